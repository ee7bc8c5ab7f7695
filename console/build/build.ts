// Builds the console into console/dist: one page, its scripts and styles, each with a gzip copy beside it.
//
//   node console/build/build.ts [DIRECTORY]      DIRECTORY of the result, default console/dist
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build, type Plugin } from 'vite'

const room = dirname(dirname(fileURLToPath(import.meta.url)))

/**
 * Replaces the client's routes, which it derives from the contract, by the derived data: the browser then loads neither the
 * schemas of the contract nor zod.
 */
const routesAsData: Plugin = {
  name: 'client-routes-as-data',
  async load(id) {
    if (!id.endsWith('/packages/client/src/api.ts')) return null
    const { routes, streamRoutes } = await import(pathToFileURL(id).href)
    return [
      `export const routes = ${JSON.stringify(routes)}`,
      `export const streamRoutes = ${JSON.stringify(streamRoutes)}`,
    ].join('\n')
  },
}

// Vite takes this over from its environment: a test run that builds would otherwise get React's development build.
process.env.NODE_ENV = 'production'

/** Builds into `directory`, which is emptied first. */
async function buildConsole(directory: string): Promise<void> {
  await build({
    root: room,
    base: '/console/',
    configFile: false,
    logLevel: 'error',
    plugins: [routesAsData],
    // The package's own entry point is its built module, which a checkout need not have.
    resolve: { alias: { '@parley/web': join(dirname(room), 'packages/web/src/index.ts') } },
    build: {
      outDir: directory,
      emptyOutDir: true,
      target: 'es2023',
      // The policy of the page forbids `data:` scripts and inline styles.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      chunkSizeWarningLimit: 1000,
      reportCompressedSize: false,
    },
  })
  const assets = join(directory, 'assets')
  for (const name of await readdir(assets)) {
    if (!/\.(js|css|svg)$/.test(name)) continue
    await writeFile(join(assets, `${name}.gz`), gzipSync(await readFile(join(assets, name)), { level: 9 }))
  }
}

await buildConsole(resolve(process.argv[2] ?? join(room, 'dist')))
