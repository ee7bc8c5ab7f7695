// Makes a fresh clone runnable: dependencies by `npm ci`, and with them Node 24 (the npm package `node`).
// Runs under whatever Node (18 or later) the machine has, before anything is installed: no dependencies, no TypeScript.
//
//   node scripts/ensure.mjs [--quiet]      --quiet: prints nothing unless something is installed or fails
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildConsole, consoleIsSettled } from './console-build.mjs'
import { buildNativeAddon, lacksOnlyHeaders, nativeAddonIsSettled } from './native-addon.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')
const stampFile = join(modules, '.parley-ensure')
const lockDirectory = join(root, '.parley-ensure.lock')
const REQUIRED_MAJOR = 24

/** The Node that runs everything but this file and the `parley` launcher. */
export const nodeBinary = join(modules, 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')

/** Installs what is missing; returns when the checkout can run. Throws with what to do when it cannot be made to. */
export async function ensure({ quiet = false } = {}) {
  if (!isReady()) await underLock(() => install(quiet))
  // Neither quicker packets nor the console may keep anything else from running.
  if (!nativeAddonIsSettled()) await underLock(buildAddon).catch(error => say(`native packet I/O: ${error.message}`))
  if (!consoleIsSettled()) await underLock(buildConsoleOnce).catch(error => say(`the console: ${error.message}`))
}

async function install(quiet) {
  // Whoever held the lock before us may have done the work.
  if (isReady()) return
  const started = Date.now()
  if (!dependenciesMatchLock()) await installDependencies(quiet)
  const version = await ensureNode()
  writeFileSync(stampFile, wantedStamp())
  if (!quiet) say(`ready with Node ${version} after ${Math.round((Date.now() - started) / 1000)} s`)
}

async function buildAddon() {
  if (nativeAddonIsSettled()) return
  // Node's install script put its headers where a later `npm install` cleans up.
  if (lacksOnlyHeaders()) await run(process.execPath, ['installArchSpecificPackage.js'], join(modules, 'node'), true)
  say(buildNativeAddon(nodeBinary))
}

async function buildConsoleOnce() {
  if (!consoleIsSettled()) say(buildConsole(nodeBinary))
}

async function underLock(work) {
  const release = await acquireLock()
  try {
    await work()
  } finally {
    release()
  }
}

function isReady() {
  return existsSync(nodeBinary) && readIfThere(stampFile) === wantedStamp()
}

function wantedStamp() {
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  return `${lock} ${process.platform}-${process.arch}\n`
}

/** True when an `npm ci` or `npm install` by hand already put in place exactly what the lock file asks for. */
function dependenciesMatchLock() {
  // npm writes this file last, so it is not there after an interrupted install.
  const installedText = readIfThere(join(modules, '.package-lock.json'))
  if (installedText === undefined) return false
  const installed = JSON.parse(installedText).packages
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages
  return Object.entries(wanted).every(
    ([path, entry]) =>
      !path.startsWith('node_modules/') || entry.optional === true || installed[path]?.version === entry.version,
  )
}

async function installDependencies(quiet) {
  say('installing dependencies (npm ci), once; this takes a minute or so')
  const { code, output } = await npm(['ci', '--no-audit', '--no-fund'], quiet)
  if (code === 0) return
  const tail = output.trimEnd().split('\n').slice(-40).join('\n')
  throw new Error(`npm ci failed (exit ${code}). It needs a package registry that can be reached.\n${tail}`)
}

/** npm may refuse install scripts (`ignore-scripts`, or newer versions by default): then Node's own is run by name. */
async function ensureNode() {
  const attempts = [
    () => undefined,
    () => npm(['rebuild', 'node', '--ignore-scripts=false', '--no-audit', '--no-fund'], true),
    () => run(process.execPath, ['installArchSpecificPackage.js'], join(modules, 'node'), true),
  ]
  for (const attempt of attempts) {
    await attempt()
    const version = versionOf(nodeBinary)
    if (version !== undefined && Number(version.slice(1).split('.')[0]) >= REQUIRED_MAJOR) return version
  }
  throw new Error(
    `the npm package "node" did not bring Node ${REQUIRED_MAJOR} to ${nodeBinary}. Its install script was refused or could ` +
      'not reach the registry. Allow it (npm config set ignore-scripts false), then run: npm rebuild node',
  )
}

function versionOf(binary) {
  if (!existsSync(binary)) return undefined
  const result = spawnSync(binary, ['--version'], { encoding: 'utf8' })
  return result.status === 0 ? result.stdout.trim() : undefined
}

function npm(args, quiet) {
  return run('npm', args, root, quiet)
}

/** `{code, output}` of a command; without `quiet` it prints a progress line every ten seconds. */
function run(command, args, cwd, quiet) {
  return new Promise(resolve => {
    const env = { ...process.env, PATH: pathWithoutModules() }
    const child = spawn(command, args, {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    })
    const started = Date.now()
    const progress = quiet
      ? undefined
      : setInterval(() => say(`still at it after ${Math.round((Date.now() - started) / 1000)} s`), 10_000)
    let output = ''
    const collect = chunk => {
      output = (output + chunk).slice(-100_000)
    }
    const finish = code => {
      clearInterval(progress)
      resolve({ code, output })
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.on('error', error => {
      collect(String(error))
      finish(-1)
    })
    child.on('close', code => finish(code ?? -1))
  })
}

/** npm must not run on the Node that it is about to delete. */
function pathWithoutModules() {
  const entries = (process.env.PATH ?? '').split(delimiter)
  return entries.filter(entry => !entry.endsWith(join('node_modules', '.bin'))).join(delimiter)
}

/** Error codes of renaming a directory onto an existing one, by platform. */
const LOCKED_BY_ANOTHER = new Set(['ENOTEMPTY', 'EEXIST', 'EPERM'])

/**
 * One installer at a time per checkout. The lock is a directory that holds its owner's pid and appears with it in one
 * rename, so there is no moment at which it has no owner; a dead owner's lock is moved aside.
 */
async function acquireLock() {
  const mine = `${lockDirectory}.${process.pid}`
  let reported = false
  for (;;) {
    rmSync(mine, { recursive: true, force: true })
    mkdirSync(mine)
    writeFileSync(join(mine, 'pid'), String(process.pid))
    try {
      renameSync(mine, lockDirectory)
      return () => releaseLock(mine)
    } catch (error) {
      rmSync(mine, { recursive: true, force: true })
      if (!LOCKED_BY_ANOTHER.has(error.code)) throw error
    }
    const owner = readIfThere(join(lockDirectory, 'pid'))
    if (owner === undefined) continue // released between the two lines above
    if (isAlive(Number(owner))) {
      if (!reported) say(`waiting for process ${owner}, which is installing`)
      reported = true
      await new Promise(resolve => setTimeout(resolve, 300))
    } else {
      removeStaleLock(`${mine}.stale`, owner)
    }
  }
}

/** In one step as well: a lock without its pid would look abandoned. */
function releaseLock(aside) {
  renameSync(lockDirectory, aside)
  rmSync(aside, { recursive: true, force: true })
}

function removeStaleLock(aside, deadOwner) {
  try {
    renameSync(lockDirectory, aside)
  } catch {
    return // another waiter was quicker
  }
  // Between our look and our move another waiter may have replaced the dead lock by its own: that one goes back.
  if (readIfThere(join(aside, 'pid')) === deadOwner) rmSync(aside, { recursive: true, force: true })
  else renameSync(aside, lockDirectory)
}

function isAlive(pid) {
  if (!Number.isInteger(pid) || pid < 1) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  }
}

function say(line) {
  process.stderr.write(`parley: ${line}\n`)
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  ensure({ quiet: process.argv.includes('--quiet') }).catch(error => {
    say(error.message)
    process.exitCode = 1
  })
}
