// Builds the browser's part of web calls, `packages/web`, to one minified module without dependencies.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const WEB = fileURLToPath(new URL('../packages/web/', import.meta.url))

/** The text of `dist/parley-web.js`; also written there unless `write` is false. */
export async function buildWeb({ write = true } = {}) {
  const { rolldown } = await import('rolldown')
  const bundle = await rolldown({ input: join(WEB, 'src/index.ts') })
  const options = { format: 'es', minify: true, file: join(WEB, 'dist/parley-web.js') }
  const { output } = write ? await bundle.write(options) : await bundle.generate(options)
  await bundle.close()
  return output[0].code
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const code = await buildWeb()
  console.log(`packages/web/dist/parley-web.js: ${Buffer.byteLength(code)} bytes`)
}
