# exit: 0
# beside others
# The include rules of src/LAYERS hold.
"$EXAMPLES/../tools/check-layers" "$EXAMPLES/.."
