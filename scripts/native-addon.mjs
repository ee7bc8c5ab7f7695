// Builds media/native/build/media.node of media/native/*.cc where a C++ compiler and Node's headers are there. Runs under any
// Node from 18 on. The headers come with the npm package `node`; otherwise those of the system's Node serve (Node-API is
// stable).
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const sourceDirectory = join(root, 'media', 'native')
const buildDirectory = join(sourceDirectory, 'build')
const addon = join(buildDirectory, 'media.node')
const stampFile = join(buildDirectory, 'stamp')
// Without contraction, so that features are computed to the bit as in TypeScript.
const FLAGS = [
  '-std=c++17',
  '-O2',
  '-ffp-contract=off',
  '-fPIC',
  '-shared',
  '-fno-exceptions',
  '-fvisibility=hidden',
  '-Wall',
  '-Wextra',
]
const DEFINES = ['-DNAPI_VERSION=9', '-U_FORTIFY_SOURCE', '-D_FORTIFY_SOURCE=2', '-fstack-protector-strong']
const BUILD_TIMEOUT_MS = 120_000

/** True when nothing is to be done: what would be built is built, or cannot be built by what is there. */
export function nativeAddonIsSettled() {
  // Not part of this checkout: there is nothing to build.
  if (sourceFiles('.cc').length === 0) return true
  const plan = planBuild()
  const stamp = readIfThere(stampFile)
  if (stamp === plan.builtStamp) return existsSync(addon)
  return stamp === plan.failedStamp
}

export function lacksOnlyHeaders() {
  return process.platform === 'linux' && findCompiler() !== undefined && findHeaders() === undefined
}

/** Builds the addon if it can be built. Returns one line that describes the result. Never throws. */
export function buildNativeAddon(nodeBinary) {
  try {
    const plan = planBuild()
    mkdirSync(buildDirectory, { recursive: true })
    rmSync(addon, { force: true })
    const obstacle = plan.obstacle ?? compile(plan, nodeBinary)
    writeFileSync(stampFile, obstacle === undefined ? plan.builtStamp : plan.failedStamp)
    return obstacle === undefined ? 'native packet I/O is built' : `${obstacle}: packets take the portable layer`
  } catch (error) {
    return `native packet I/O cannot be built (${error.message}): packets take the portable layer`
  }
}

/**
 * Builds the addon, or `sources`, into `file` with the address and undefined-behaviour sanitisers. Returns the library that a
 * process must preload to load it, or, as `obstacle`, why it cannot be built.
 */
export function buildSanitizedAddon(file, sources = []) {
  const { compiler, headers, obstacle } = planBuild()
  if (obstacle !== undefined) return { obstacle }
  const options = { encoding: 'utf8', timeout: BUILD_TIMEOUT_MS }
  const library = spawnSync(compiler, ['-print-file-name=libasan.so'], options).stdout?.trim() ?? ''
  if (!isAbsolute(library)) return { obstacle: 'the compiler has no address sanitiser (libasan)' }
  const sanitised = [
    ...FLAGS,
    '-g',
    '-fno-omit-frame-pointer',
    '-fsanitize=address,undefined',
    '-fno-sanitize-recover=all',
  ]
  const built = spawnSync(
    compiler,
    [
      ...sanitised,
      '-DNAPI_VERSION=9',
      `-I${headers}`,
      ...(sources.length > 0 ? sources : sourceFiles('.cc')),
      '-o',
      file,
    ],
    options,
  )
  return built.status === 0 ? { library } : { obstacle: `the sanitised addon does not compile (${firstError(built)})` }
}

/**
 * The build that this machine would do. What is built stays good while the source is the same, also where the compiler went
 * away; what failed is tried again with another compiler or other headers.
 */
function planBuild() {
  const compiler = findCompiler()
  const headers = findHeaders()
  const hash = createHash('sha256')
  for (const file of [...sourceFiles('.h'), ...sourceFiles('.cc')]) hash.update(readFileSync(file))
  hash.update(JSON.stringify([FLAGS, DEFINES, process.platform, process.arch]))
  const builtStamp = `built ${hash.digest('hex')}\n`
  const failedStamp = `not ${builtStamp.trim()} by ${compiler} with ${headers}\n`
  return { builtStamp, failedStamp, compiler, headers, obstacle: obstacleOf(compiler, headers) }
}

function obstacleOf(compiler, headers) {
  if (process.platform !== 'linux') return `native packet I/O is made for Linux, this is ${process.platform}`
  if (compiler === undefined) return 'there is no C++ compiler (c++, g++ or clang++)'
  if (headers === undefined) return "there are no headers of Node's (node_api.h, openssl/evp.h)"
  return undefined
}

/** What went wrong, or undefined. The result gets its name only after it was loaded by the Node that is to use it. */
function compile({ compiler, headers }, nodeBinary) {
  const made = join(buildDirectory, `media.${process.pid}.node`)
  try {
    const options = { encoding: 'utf8', timeout: BUILD_TIMEOUT_MS }
    const built = spawnSync(
      compiler,
      [...FLAGS, ...DEFINES, `-I${headers}`, ...sourceFiles('.cc'), '-o', made],
      options,
    )
    if (built.status !== 0) return `the native packet layer does not compile here (${firstError(built)})`
    const loaded = spawnSync(nodeBinary, ['-e', `require(${JSON.stringify(made)}).PacketIo.name`], options)
    if (loaded.status !== 0) return `the native packet layer does not load here (${firstError(loaded)})`
    renameSync(made, addon)
    return undefined
  } finally {
    rmSync(made, { force: true })
  }
}

function sourceFiles(extension) {
  if (!existsSync(sourceDirectory)) return []
  const names = readdirSync(sourceDirectory).filter(name => name.endsWith(extension))
  return names.sort().map(name => join(sourceDirectory, name))
}

function firstError({ error, stderr }) {
  const lines = (stderr ?? '').split('\n').filter(line => line.trim() !== '')
  return error?.message ?? lines.find(line => /error/i.test(line)) ?? lines[0] ?? 'no message'
}

function findCompiler() {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(folder => folder !== '')
  for (const name of ['c++', 'g++', 'clang++']) {
    for (const folder of folders) {
      if (isExecutable(join(folder, name))) return join(folder, name)
    }
  }
  return undefined
}

function findHeaders() {
  const inPackage = join('node', 'node_modules', `node-${process.platform}-${process.arch}`, 'include', 'node')
  const candidates = [
    join(root, 'node_modules', inPackage),
    join(root, 'node_modules', `node-${process.platform}-${process.arch}`, 'include', 'node'),
    join(dirname(dirname(process.execPath)), 'include', 'node'),
    '/usr/include/node',
    '/usr/local/include/node',
  ]
  return candidates.find(
    folder => existsSync(join(folder, 'node_api.h')) && existsSync(join(folder, 'openssl', 'evp.h')),
  )
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
