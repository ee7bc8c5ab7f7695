// Checks the imports between packages (`.dependency-cruiser.mjs`), and that the check itself finds planted faults.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { repositoryRoot, typeScriptFiles, workspaceFolders } from './repository.ts'
import { unusedExportFaults } from './unused-exports.ts'

interface Violation {
  readonly from: string
  readonly to: string
  readonly rule: { readonly name: string }
}

interface Cruise {
  readonly sources: ReadonlySet<string>
  readonly violations: readonly Violation[]
}

/** One forbidden import and the rule that must refuse it. */
interface PlantedFault {
  readonly rule: string
  readonly file: string
  readonly source: string
}

const PLANTED: readonly PlantedFault[] = [
  { rule: 'arrows-of-kernel', file: 'packages/kernel/src/a.ts', source: "export * from '@parley/sip'" },
  { rule: 'arrows-of-sip', file: 'sip/src/a.ts', source: "import type { x } from '@parley/media'\nexport type y = x" },
  { rule: 'arrows-of-media', file: 'media/src/a.ts', source: "export { x } from '@parley/sip'" },
  { rule: 'arrows-of-leg', file: 'packages/leg/src/a.ts', source: "export { x } from '@parley/engine'" },
  { rule: 'arrows-of-engine', file: 'packages/engine/src/a.ts', source: "export { x } from '@parley/phone'" },
  {
    rule: 'arrows-of-phone',
    file: 'packages/phone/src/a.ts',
    source: "export const x = await import('@parley/engine')",
  },
  { rule: 'arrows-of-runs', file: 'packages/runs/src/a.ts', source: "export { x } from '@parley/engine'" },
  { rule: 'arrows-of-jobs', file: 'packages/jobs/src/a.ts', source: "export { x } from '@parley/leg'" },
  { rule: 'by-its-entry-point', file: 'packages/leg/src/b.ts', source: "export { x } from '../../../sip/src/b.ts'" },
  {
    rule: 'tests-by-an-entry-point-too',
    file: 'packages/leg/src/b.test.ts',
    source: "export { x } from '../../../sip/src/b.ts'",
  },
  {
    rule: 'no-test-code-in-the-product',
    file: 'packages/contract/src/c.ts',
    source: "export { x } from './testing/b.ts'",
  },
  { rule: 'not-by-path', file: 'packages/leg/src/c.ts', source: "export { x } from '../../../sip/src/index.ts'" },
  { rule: 'declared-package', file: 'packages/attic/src/a.ts', source: "export { x } from '@parley/kernel'" },
  { rule: 'outside-world-only-in-io', file: 'sip/src/c.ts', source: "export { connect as x } from 'node:net'" },
  {
    rule: 'outside-world-only-in-io',
    file: 'media/src/c.ts',
    source: "export { readFile as x } from 'node:fs/promises'",
  },
  {
    rule: 'outside-world-only-in-io',
    file: 'media/src/d.ts',
    source: "import * as t from 'timers'\nexport const x = t",
  },
  {
    rule: 'outside-world-only-in-io',
    file: 'packages/providers/src/vendor/protocol.ts',
    source: "export { connect as x } from 'node:net'",
  },
  { rule: 'no-circle', file: 'sip/src/d.ts', source: "import { y } from './e.ts'\nexport const x = y" },
  { rule: 'resolvable', file: 'packages/engine/src/c.ts', source: "export { x } from '@parley/sip/src/b.ts'" },
  { rule: 'fakes-are-for-tests', file: 'packages/providers/src/a.ts', source: "export { x } from '@parley/fakes'" },
  { rule: 'fakes-are-for-tests', file: 'packages/cli/src/a.ts', source: "export { x } from '@parley/fakes'" },
  { rule: 'stand-ins-on-demand', file: 'packages/cli/src/b.ts', source: "export { x } from './stand-ins/a.ts'" },
  {
    rule: 'arrows-of-console',
    file: 'console/src/a.tsx',
    source: "export { x } from '@parley/control-plane'\nexport const y = <p>1</p>",
  },
  { rule: 'no-test-code-in-the-product', file: 'sip/src/f.ts', source: "export { x } from './b.test.ts'" },
]

/** What the rules must let pass, in the same planted repository. */
const INNOCENT: readonly Omit<PlantedFault, 'rule'>[] = [
  { file: 'sip/src/b.ts', source: "import { x as y } from '@parley/kernel'\nexport const x = y" },
  { file: 'sip/src/b.test.ts', source: "import 'node:fs'\nexport const x = 1" },
  { file: 'packages/contract/src/testing/b.ts', source: 'export const x = 1' },
  { file: 'packages/contract/src/b.test.ts', source: "export { x } from './testing/b.ts'" },
  { file: 'packages/cli/src/stand-ins/a.ts', source: "export { x } from '@parley/fakes'" },
  { file: 'packages/cli/src/c.ts', source: "export const x = await import('./stand-ins/a.ts')" },
  { file: 'packages/providers/src/vendor/io/socket.ts', source: "export { connect as x } from 'node:net'" },
  { file: 'sip/src/io/socket.ts', source: "export { connect as x } from 'node:net'" },
  { file: 'packages/engine/src/b.ts', source: "export { x } from '@parley/leg'\nexport * from 'node:fs'" },
]

function cruise(directory: string, folders: readonly string[]): Cruise {
  const result = spawnSync(
    process.execPath,
    [
      join(repositoryRoot, 'node_modules/.bin/depcruise'),
      '--config',
      join(repositoryRoot, '.dependency-cruiser.mjs'),
      '--output-type',
      'json',
      ...folders,
    ],
    { cwd: directory, encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 },
  )
  if (!result.stdout.startsWith('{')) throw new Error(`dependency-cruiser failed: ${result.stderr || result.stdout}`)
  const report = JSON.parse(result.stdout) as {
    modules: { source: string }[]
    summary: { violations: Violation[] }
  }
  return { sources: new Set(report.modules.map(module => module.source)), violations: report.summary.violations }
}

/** Faults of the project itself. */
function checkHouse(): string[] {
  const files = typeScriptFiles()
  const folders = [...new Set(files.map(path => (path.includes('/') ? path.slice(0, path.indexOf('/')) : path)))]
  const { sources, violations } = cruise(repositoryRoot, folders)
  const unseen = files.filter(path => !sources.has(path))
  console.log(`dependency rules: ${files.length - unseen.length} of ${files.length} files seen`)
  return [
    ...unseen.map(path => `not seen by the dependency check: ${path}`),
    ...violations.map(violation => `${violation.rule.name}: ${violation.from} -> ${violation.to}`),
  ]
}

/** Builds a small repository with the same packages, plants the faults, and returns those that passed the rules. */
function checkRules(): string[] {
  const directory = mkdtempSync(join(tmpdir(), 'parley-rules.'))
  try {
    buildPlantedHouse(directory)
    const { violations } = cruise(directory, ['sip', 'media', 'packages', 'console'])
    const missed = PLANTED.filter(
      fault => !violations.some(violation => violation.rule.name === fault.rule && violation.from === fault.file),
    )
    const falseAlarms = violations.filter(violation => INNOCENT.some(innocent => innocent.file === violation.from))
    console.log(`dependency rules: ${PLANTED.length - missed.length} of ${PLANTED.length} planted faults caught`)
    return [
      ...missed.map(fault => `a planted fault passed: ${fault.rule} in ${fault.file}`),
      ...falseAlarms.map(alarm => `a false alarm: ${alarm.rule.name} in ${alarm.from}`),
    ]
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function buildPlantedHouse(directory: string): void {
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(directory, file)), { recursive: true })
    writeFileSync(join(directory, file), text)
  }
  const names = workspaceFolders()
  write('package.json', JSON.stringify({ name: 'planted', private: true, type: 'module', workspaces: names }))
  mkdirSync(join(directory, 'node_modules/@parley'), { recursive: true })
  for (const folder of names) {
    const name = basename(folder)
    const dependencies = Object.fromEntries(names.map(other => [`@parley/${basename(other)}`, '*']))
    const manifest = { name: `@parley/${name}`, type: 'module', exports: { '.': './src/index.ts' }, dependencies }
    write(join(folder, 'package.json'), JSON.stringify(manifest))
    write(join(folder, 'src/index.ts'), 'export const x = 1\n')
    symlinkSync(join(directory, folder), join(directory, 'node_modules/@parley', name))
  }
  // The other half of the planted circle, which is reported once, on its first file.
  write('sip/src/e.ts', "import { x } from './d.ts'\nexport const y = x\n")
  for (const { file, source } of [...INNOCENT, ...PLANTED]) write(file, `${source}\n`)
}

const faults = [...checkRules(), ...checkHouse(), ...unusedExportFaults()]
for (const fault of faults) console.error(fault)
process.exitCode = faults.length === 0 ? 0 : 1
