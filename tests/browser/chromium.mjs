// Prints where the pinned npm package keeps its browser, unpacking it under TMPDIR first if need be.
// With --libraries it also unpacks the shared libraries that a machine without a desktop may lack.
if (process.argv.includes("--libraries")) process.env.AWS_EXECUTION_ENV = "AWS_Lambda_nodejs20.x";
const { default: chromium } = await import("@sparticuz/chromium");

process.stdout.write(await chromium.executablePath());
