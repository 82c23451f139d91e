// Bundles src/ into src/lowdim/report/static; the first line of each file records which sources it was made from.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = fileURLToPath(new URL(".", import.meta.url));
const out = fileURLToPath(new URL("../src/lowdim/report/static/", import.meta.url));
const files = ["build.mjs", "package-lock.json", "package.json", "tsconfig.json"];
for (const found of readdirSync(`${here}src`, { withFileTypes: true, recursive: true }))
  if (found.isFile()) files.push(`${found.parentPath}/${found.name}`.slice(here.length));
files.sort();

const hash = createHash("sha256");
for (const name of files) {
  const text = readFileSync(here + name, "utf8").replaceAll("\r\n", "\n");
  hash.update(`${name}\0${text}\0`);
}
const banner = `/*! lowdim report page, made from web/ (npm run build); sources: sha256-${hash.digest("hex")} */`;

const page = [
  { in: "src/main.ts", out: "report" },
  { in: "src/report.css", out: "report" },
  { in: "src/view.ts", out: "view" },
  { in: "src/view.css", out: "view" },
];
const settings = {
  absWorkingDir: here,
  outdir: out,
  bundle: true,
  minify: true,
  target: ["chrome90", "firefox90", "safari15"],
  charset: "ascii",
  legalComments: "none",
  banner: { js: banner, css: banner },
};
await build({ ...settings, entryPoints: page, format: "iife" });
await build({ ...settings, entryPoints: [{ in: "src/widget.ts", out: "widget" }], format: "esm" });
