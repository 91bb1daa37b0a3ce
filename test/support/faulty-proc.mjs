/**
 * Loaded into a daemon under test (`node --import`): while the file named by
 * FAULTY_PROC holds an errno, every reading of /proc/<pid> fails with it, as
 * it does when the kernel has no descriptor, no memory or no permission to
 * give. With a second word only readings of that file of a process fail.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { getSystemErrorMap } from "node:util";

const { readFileSync } = fs;
const numbers = new Map([...getSystemErrorMap()].map(([number, [name]]) => [name, number]));

function armed() {
  try {
    return readFileSync(process.env.FAULTY_PROC, "utf8").trim().split(" ");
  } catch {
    return [];
  }
}

for (const name of ["openSync", "readFileSync", "readdirSync", "readlinkSync", "statSync"]) {
  const real = fs[name];
  fs[name] = (path, ...rest) => {
    const found = typeof path === "string" ? /^\/proc(?:$|\/\d+(?:$|\/(.*)))/.exec(path) : null;
    if (found !== null) {
      const [code, only] = armed();
      if (code !== undefined && (only === undefined || only === found[1])) {
        throw Object.assign(new Error(`${code}: injected, ${name} '${path}'`), {
          code,
          errno: numbers.get(code),
          path,
        });
      }
    }
    return real(path, ...rest);
  };
}
syncBuiltinESMExports();
