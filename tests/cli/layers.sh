# exit: 0
# The include rules of src/LAYERS hold.
"$EXAMPLES/../tools/check-layers" "$EXAMPLES/.."
