// Builds media/native/build/media.node of media/native/*.cc where a C++ compiler and Node's headers are there; elsewhere it takes the binary
// of media/prebuilt, if that was built of the same sources. Runs under any Node from 18 on. The headers come with the npm package
// `node`; otherwise those of the system's Node serve (Node-API is stable).
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
import { basename, delimiter, dirname, isAbsolute, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const sourceDirectory = join(root, 'media', 'native')
const buildDirectory = join(sourceDirectory, 'build')
const addon = join(buildDirectory, 'media.node')
const stampFile = join(buildDirectory, 'stamp')
const prebuiltDirectory = join(root, 'media', 'prebuilt')
const manifestFile = join(prebuiltDirectory, 'manifest.json')
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
/**
 * Binaries of media/prebuilt are the same bytes from the same compiler, whatever the folder and the time, and need only the libraries
 * of Node itself.
 */
const PREBUILT_FLAGS = ['-s', '-Wl,--build-id=none']
/** Where the binaries run, and the compilers that make them. */
const PREBUILT_COMPILERS = { x64: 'x86_64-linux-gnu-g++', arm64: 'aarch64-linux-gnu-g++' }
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
    const isPrebuilt = obstacle !== undefined && takePrebuilt(nodeBinary)
    writeFileSync(stampFile, obstacle === undefined || isPrebuilt ? plan.builtStamp : plan.failedStamp)
    if (isPrebuilt) return `${obstacle}: the prebuilt native packet I/O is used`
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

/** Puts the binary of media/prebuilt in place; false: there is none for this machine and these sources, or it does not load. */
function takePrebuilt(nodeBinary) {
  const manifest = JSON.parse(readIfThere(manifestFile) ?? 'null')
  const entry = process.platform === 'linux' ? manifest?.binaries?.[process.arch] : undefined
  if (entry === undefined || manifest.sources !== hashOfSources()) return false
  const bytes = readFileSync(join(prebuiltDirectory, entry.file))
  if (createHash('sha256').update(bytes).digest('hex') !== entry.sha256) return false
  const made = join(buildDirectory, `media.${process.pid}.node`)
  try {
    writeFileSync(made, bytes, { mode: 0o755 })
    return putInPlace(made, nodeBinary) === undefined
  } finally {
    rmSync(made, { force: true })
  }
}

/** SHA-256 of the sources with the flags that they are compiled by, which a binary must have been built of. */
export function hashOfSources() {
  const hash = createHash('sha256')
  for (const file of [...sourceFiles('.h'), ...sourceFiles('.cc')]) {
    hash.update(`${basename(file)}\0`)
    hash.update(readFileSync(file))
  }
  return hash.update(JSON.stringify([FLAGS, PREBUILT_FLAGS, DEFINES])).digest('hex')
}

/** The compiler that makes the binary for an architecture, with its version in one line; undefined: it is not installed. */
export function prebuiltCompiler(arch) {
  const compiler = pathOf(PREBUILT_COMPILERS[arch])
  if (compiler === undefined) return undefined
  const { stdout } = spawnSync(compiler, ['--version'], { encoding: 'utf8' })
  return { compiler, version: stdout.split('\n')[0] }
}

/** Builds the binary of an architecture into `file`. Throws with the reason when it cannot be built. */
export function buildPrebuilt(arch, file) {
  const found = prebuiltCompiler(arch)
  const headers = findHeaders()
  if (found === undefined)
    throw new Error(
      `${PREBUILT_COMPILERS[arch]} is not installed (apt-get install g++-${arch === 'arm64' ? 'aarch64' : 'x86-64'}-linux-gnu)`,
    )
  if (headers === undefined) throw new Error("there are no headers of Node's (node_api.h, openssl/evp.h)")
  const sources = sourceFiles('.cc').map(source => relative(root, source))
  const built = spawnSync(
    found.compiler,
    [...FLAGS, ...PREBUILT_FLAGS, ...DEFINES, `-I${relative(root, headers)}`, ...sources, '-o', file],
    { cwd: root, encoding: 'utf8', timeout: BUILD_TIMEOUT_MS },
  )
  if (built.status !== 0) throw new Error(`the native packet layer does not compile for ${arch} (${firstError(built)})`)
}

/** Builds all binaries of media/prebuilt and writes their manifest. */
export function writePrebuilt() {
  const binaries = {}
  mkdirSync(prebuiltDirectory, { recursive: true })
  for (const arch of Object.keys(PREBUILT_COMPILERS)) {
    const name = `linux-${arch}.node`
    buildPrebuilt(arch, join(prebuiltDirectory, name))
    const bytes = readFileSync(join(prebuiltDirectory, name))
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    binaries[arch] = { file: name, bytes: bytes.length, sha256, compiler: prebuiltCompiler(arch).version }
  }
  writeFileSync(manifestFile, `${JSON.stringify({ sources: hashOfSources(), binaries }, null, 2)}\n`)
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
  const failedStamp = `not ${builtStamp.trim()} by ${compiler} with ${headers} and ${createHash('sha256')
    .update(readIfThere(manifestFile) ?? '')
    .digest('hex')}\n`
  return { builtStamp, failedStamp, compiler, headers, obstacle: obstacleOf(compiler, headers) }
}

function obstacleOf(compiler, headers) {
  if (process.platform !== 'linux') return `native packet I/O is made for Linux, this is ${process.platform}`
  if (compiler === undefined) return 'there is no C++ compiler (c++, g++ or clang++)'
  if (headers === undefined) return "there are no headers of Node's (node_api.h, openssl/evp.h)"
  return undefined
}

/** What went wrong, or undefined. */
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
    return putInPlace(made, nodeBinary)
  } finally {
    rmSync(made, { force: true })
  }
}

/** What went wrong when the addon was loaded by the Node that is to use it, or undefined: it has its name now. */
function putInPlace(made, nodeBinary) {
  const load = `require(${JSON.stringify(made)}).PacketIo.name`
  const loaded = spawnSync(nodeBinary, ['-e', load], { encoding: 'utf8', timeout: BUILD_TIMEOUT_MS })
  if (loaded.status !== 0) return `the native packet layer does not load here (${firstError(loaded)})`
  renameSync(made, addon)
  return undefined
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
  return ['c++', 'g++', 'clang++'].map(pathOf).find(path => path !== undefined)
}

/** Where a program is among the folders of PATH. */
function pathOf(name) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(folder => folder !== '')
  return folders.map(folder => join(folder, name)).find(isExecutable)
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
