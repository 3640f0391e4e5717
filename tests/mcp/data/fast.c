/* fake: time=500us */
