// Builds the console (console/dist) and the browser's part of web calls (packages/web/dist) once per state of their sources. Runs under any Node from 18 on; the build itself runs under
// the project's own Node.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const room = join(root, 'console')
const directory = join(room, 'dist')
const stampFile = join(directory, 'stamp')
const BUILD_TIMEOUT_MS = 120_000

/** Everything that the built files are made of: the console, the routes of the API that its client derives, and the browser's part of web calls. */
const SOURCES = [
  'console/index.html',
  'console/package.json',
  'console/src',
  'console/build',
  'packages/client/src',
  'packages/contract/src',
  'packages/nodes/src',
  'packages/web/src',
  'packages/web/tsconfig.build.json',
  'scripts/web-build.mjs',
  'package-lock.json',
]

/** True if the built files belong to these sources, if these sources cannot be built here, or if this is a packed release. */
export function consoleIsSettled() {
  if (!existsSync(join(room, 'src'))) return true
  const stamp = readIfThere(stampFile)
  const wanted = sourceHash()
  return stamp === `built ${wanted}\n` || stamp === `not built ${wanted}\n`
}

/** Builds the console. Returns one line that describes the result. Never throws. */
export function buildConsole(nodeBinary) {
  const made = join(room, `dist.${process.pid}`)
  try {
    const started = Date.now()
    const hash = sourceHash()
    const fault =
      faultOf(nodeBinary, [join(root, 'scripts', 'web-build.mjs')]) ??
      faultOf(nodeBinary, [join(room, 'build', 'build.ts'), made])
    rmSync(directory, { recursive: true, force: true })
    if (fault === undefined) renameSync(made, directory)
    else mkdirSync(directory, { recursive: true })
    writeFileSync(stampFile, `${fault === undefined ? 'built' : 'not built'} ${hash}\n`)
    return fault === undefined
      ? `the console is built after ${Math.round((Date.now() - started) / 1000)} s`
      : `the console is not built (${fault}); everything else runs. To see more: node console/build/build.ts`
  } catch (error) {
    return `the console cannot be built (${error.message}); everything else runs`
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

/** Runs a build; undefined: it succeeded. */
function faultOf(nodeBinary, args) {
  const built = spawnSync(nodeBinary, args, { cwd: root, encoding: 'utf8', timeout: BUILD_TIMEOUT_MS })
  return built.status === 0 ? undefined : (built.error?.message ?? lastLine(built.stderr))
}

function sourceHash() {
  const hash = createHash('sha256')
  for (const source of SOURCES) addTo(hash, source)
  return hash.digest('hex')
}

function addTo(hash, path) {
  const absolute = join(root, path)
  let entries
  try {
    entries = readdirSync(absolute, { withFileTypes: true })
  } catch (error) {
    if (error.code !== 'ENOTDIR') {
      if (error.code === 'ENOENT') return
      throw error
    }
    hash.update(`${path}\0`).update(readFileSync(absolute))
    return
  }
  for (const { name } of entries.sort((a, b) => (a.name < b.name ? -1 : 1)))
    if (!/\.test\.tsx?$/.test(name) && name !== 'testing') addTo(hash, `${path}/${name}`)
}

function lastLine(text) {
  const lines = (text ?? '').split('\n').filter(line => line.trim() !== '')
  return lines.find(line => /error/i.test(line)) ?? lines.at(-1) ?? 'no message'
}

function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
