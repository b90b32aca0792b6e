"""What has been disclosed to each worker, what it cost, and what the next opening would cost."""
