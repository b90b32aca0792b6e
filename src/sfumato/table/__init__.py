"""The door: any dataframe, CSV, Parquet in; codes out; labels back."""
