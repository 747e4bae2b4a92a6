"""What goes into the input besides keys: images, the clipboard, the files of the project by a few letters."""
