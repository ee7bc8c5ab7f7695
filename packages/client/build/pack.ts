// Builds the npm package of the client: JavaScript and types without dependencies.
//
//   node packages/client/build/pack.ts [DIRECTORY]      DIRECTORY of the tarball, default .
import { spawnSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { operations, streams } from '@parley/contract'
import { apiSource } from './api-source.ts'

const packageFolder = dirname(dirname(fileURLToPath(import.meta.url)))
const root = dirname(dirname(packageFolder))
/** Sources that import packages of the workspace. */
const EXCLUDED = new Set(['api.ts', 'derive-route.ts'])

/** For browsers, Node 20 and later, Deno, Bun and workers: no Node types, so that the compiler refuses Node APIs. */
const COMPILER_OPTIONS = {
  target: 'es2022',
  lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable', 'es2024.string'],
  types: [],
  module: 'nodenext',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  rewriteRelativeImportExtensions: true,
  declaration: true,
  rootDir: 'src',
  outDir: 'dist',
}

/** Writes the tarball into `directory` and resolves with its path. Throws with the output of the compiler or npm. */
export async function packClient(directory: string): Promise<string> {
  const workDirectory = await mkdtemp(join(tmpdir(), 'parley-client-'))
  try {
    await writeSources(workDirectory)
    run(join(root, 'node_modules', '.bin', 'tsc'), ['--project', 'tsconfig.json', '--pretty', 'false'], workDirectory)
    await writePackage(workDirectory)
    await mkdir(directory, { recursive: true })
    const output = run(
      'npm',
      ['pack', './package', '--pack-destination', directory, '--ignore-scripts', '--json'],
      workDirectory,
    )
    const [packed] = JSON.parse(output) as [{ filename: string }]
    return join(directory, packed.filename)
  } finally {
    await rm(workDirectory, { recursive: true, force: true })
  }
}

async function writeSources(workDirectory: string): Promise<void> {
  const sources = join(workDirectory, 'src')
  await mkdir(sources)
  for (const name of await readdir(join(packageFolder, 'src')))
    if (name.endsWith('.ts') && !name.endsWith('.test.ts') && !EXCLUDED.has(name))
      await cp(join(packageFolder, 'src', name), join(sources, name))
  await writeFile(join(sources, 'api.ts'), apiSource(operations, streams))
  await writeFile(join(workDirectory, 'package.json'), '{"type":"module"}')
  await writeFile(
    join(workDirectory, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: COMPILER_OPTIONS, include: ['src'] }),
  )
}

async function writePackage(workDirectory: string): Promise<void> {
  const target = join(workDirectory, 'package')
  const { name, version, license } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8'))
  const manifest = {
    name,
    version,
    license,
    description: 'Typed client of the Parley API',
    type: 'module',
    exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
    sideEffects: false,
    engines: { node: '>=20' },
    files: ['dist'],
  }
  await mkdir(target)
  await cp(join(workDirectory, 'dist'), join(target, 'dist'), { recursive: true })
  await rewriteDeclarations(join(target, 'dist'))
  await cp(join(packageFolder, 'README.md'), join(target, 'README.md'))
  await cp(join(root, 'LICENSE'), join(target, 'LICENSE'))
  await writeFile(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}

/** Replaces `.ts` by `.js` in the imports of declarations; the compiler does that in JavaScript only. */
async function rewriteDeclarations(dist: string): Promise<void> {
  for (const name of await readdir(dist)) {
    if (!name.endsWith('.d.ts')) continue
    const text = await readFile(join(dist, name), 'utf8')
    await writeFile(join(dist, name), text.replace(/(from |import\()'(\.\/[a-z-]+)\.ts'/g, "$1'$2.js'"))
  }
}

/** Runs a command and returns its standard output. Throws if it fails. */
function run(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: 120_000 })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? `${stdout}${stderr}`.trim()}`)
  return stdout
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.stdout.write(`${await packClient(resolve(process.argv[2] ?? '.'))}\n`)
