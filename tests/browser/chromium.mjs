// Unpacks the browser of the pinned npm package into TMPDIR.
// With --libraries it also unpacks the shared libraries that a machine without a desktop may lack.
if (process.argv.includes("--libraries")) process.env.AWS_EXECUTION_ENV = "AWS_Lambda_nodejs20.x";
const { default: chromium } = await import("@sparticuz/chromium");

await chromium.executablePath();
