// Builds the browser's part of web calls, `packages/web`, to one minified module without dependencies, and its types.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const WEB = fileURLToPath(new URL('../packages/web/', import.meta.url))
const TSC = fileURLToPath(new URL('../node_modules/.bin/tsc', import.meta.url))

/** The text of `dist/parley-web.js`; also written there unless `write` is false. */
export async function buildWeb({ write = true } = {}) {
  const { rolldown } = await import('rolldown')
  const bundle = await rolldown({ input: join(WEB, 'src/index.ts') })
  const options = { format: 'es', minify: true, file: join(WEB, 'dist/parley-web.js') }
  const { output } = write ? await bundle.write(options) : await bundle.generate(options)
  await bundle.close()
  return output[0].code
}

/** Writes the types beside the module: those who install the package do not get the sources. Throws with the output of the compiler. */
function writeTypes() {
  const { status, stdout, error } = spawnSync(TSC, ['--project', 'tsconfig.build.json'], { cwd: WEB, encoding: 'utf8' })
  if (status !== 0) throw new Error(`the types of packages/web cannot be written: ${error?.message ?? stdout}`)
  const directory = join(WEB, 'dist')
  for (const name of readdirSync(directory).filter(name => name.endsWith('.d.ts'))) {
    const path = join(directory, name)
    // The compiler leaves the endings of the sources in the imports of declarations.
    writeFileSync(path, readFileSync(path, 'utf8').replace(/((?:from |import\()'\.\/[a-z-]+)\.ts'/g, "$1.js'"))
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const code = await buildWeb()
  writeTypes()
  console.log(`packages/web/dist/parley-web.js: ${Buffer.byteLength(code)} bytes`)
}
