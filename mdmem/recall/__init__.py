"""The place of injection in version 0.1, whose registered commands name it until `mdmem install` is run again."""
