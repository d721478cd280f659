// Prints where the npm package keeps its browser, unpacking it there first if need be.
import chromium from "@sparticuz/chromium";

process.stdout.write(await chromium.executablePath());
