// Finds exports that nothing imports, in the entry points of the packages and behind them, and proves on planted files that it finds them.
// Run by dependency-rules.ts.
import { readFileSync } from 'node:fs'
import { basename, dirname, join, posix } from 'node:path'
import { localUses, type ModuleLinks, moduleLinks } from './module-links.ts'
import { repositoryRoot, typeScriptFiles, workspaceFolders } from './repository.ts'

/** Packages whose entry point is used outside of this repository: the client and the browser's part of web calls. */
const PUBLISHED = new Set(['packages/client', 'packages/web'])

/** Packages that exist for tests, proofs and benchmarks. */
const PACKAGES_FOR_TESTS = new Set(['packages/fakes', 'loadtest'])

/** Exports that a program loads by a computed path. */
const LOADED_BY_PATH: readonly { readonly file: RegExp; readonly name: string }[] = [
  { file: /\.fuzz\.ts$/, name: 'target' },
  { file: /^scripts\/fuzzing\/planted\.ts$/, name: 'hangsOnTabs' },
  { file: /^scripts\/proofs\//, name: 'proof' },
  { file: /^scripts\/benchmarks\/[^/]+\/benchmark\.ts$/, name: 'benchmark' },
  { file: /^vitest\.config\.ts$/, name: 'default' },
  { file: /\/global-setup\.ts$/, name: 'setup' },
]

const isTestCode = (path: string) =>
  /\.test\.ts$|\.fixture\.ts$|\/conformance[^/]*\.ts$|\/testing\/|\/fuzz\/|^scripts\/|^interop\//.test(path)

/** One name exported by a file, and the files that import it. */
interface ExportedName {
  readonly path: string
  readonly name: string
  readonly users: readonly string[]
}

/** TypeScript sources by path, with the folders that are packages. */
interface Repository {
  readonly sources: ReadonlyMap<string, string>
  readonly packages: readonly string[]
}

class ExportGraph {
  readonly #repository: Repository
  readonly #links = new Map<string, ModuleLinks>()
  /** Importing files by exporting file and name; the name "*" stands for a whole module. */
  readonly #users = new Map<string, Set<string>>()

  constructor(repository: Repository) {
    this.#repository = repository
    for (const [path, source] of repository.sources) this.#links.set(path, moduleLinks(source, path.endsWith('.tsx')))
    for (const [path, links] of this.#links)
      for (const { from, name } of links.imports) {
        const target = this.#resolve(path, from)
        if (target !== undefined) this.#recordUse(target, name, path)
      }
  }

  faults(): string[] {
    const found: string[] = []
    for (const [path, links] of this.#links) {
      const folder = this.packageOf(path)
      for (const name of this.#exportedNames(path, links)) {
        if (LOADED_BY_PATH.some(loaded => loaded.name === name && loaded.file.test(path))) continue
        const fault = this.#faultOf(folder, { path, name, users: this.#usersOf(path, name) })
        if (fault !== undefined) found.push(fault)
      }
    }
    return found
  }

  /** The package's folder; files outside of all workspaces count as packages by their first folder. */
  packageOf(path: string): string {
    const folder = this.#repository.packages.find(folder => path.startsWith(`${folder}/`))
    return folder ?? (path.includes('/') ? path.slice(0, path.indexOf('/')) : '.')
  }

  #faultOf(folder: string, exported: ExportedName): string | undefined {
    if (exported.path === `${folder}/src/index.ts`) return this.#faultOfEntryPoint(folder, exported)
    if (exported.path === `${folder}/src/testing/index.ts`) return this.#faultOfTestingEntryPoint(folder, exported)
    return this.#faultBehindEntryPoint(folder, exported)
  }

  #faultOfEntryPoint(folder: string, { path, name, users }: ExportedName): string | undefined {
    if (PUBLISHED.has(folder)) return undefined
    const outside = users.filter(user => this.packageOf(user) !== folder)
    if (outside.length === 0)
      return `${path} exports ${name}, which no other package imports: remove it from the entry point`
    if (PACKAGES_FOR_TESTS.has(folder) || outside.some(user => !isTestCode(user))) return undefined
    return `${path} exports ${name}, which only tests import: export it from src/testing/index.ts`
  }

  #faultOfTestingEntryPoint(folder: string, { path, name, users }: ExportedName): string | undefined {
    if (users.some(user => this.packageOf(user) !== folder)) return undefined
    return `${path} exports ${name}, which no other package's tests import: remove it`
  }

  #faultBehindEntryPoint(folder: string, { path, name, users }: ExportedName): string | undefined {
    const isProgram = !this.#repository.sources.has(`${folder}/src/index.ts`)
    const inside = isProgram ? users : users.filter(user => this.packageOf(user) === folder)
    if (inside.length === 0)
      return `${path} exports ${name}, which no other file of the package imports: drop the export`
    if (isTestCode(path) || PACKAGES_FOR_TESTS.has(folder)) return undefined
    // The entry point for tests may offer it; its own rule demands a user there.
    if (inside.some(user => !isTestCode(user) || user.endsWith('/testing/index.ts'))) return undefined
    const local = this.#links.get(path)?.exports.get(name) ?? name
    if (localUses(this.#repository.sources.get(path) ?? '', local, path.endsWith('.tsx')) > 1) return undefined
    return `${path} exports ${name}, which only tests use: move it to test code or delete it`
  }

  #exportedNames(path: string, links: ModuleLinks, seen: ReadonlySet<string> = new Set()): string[] {
    const names = [...links.exports.keys()]
    for (const from of links.starExports) {
      const target = this.#resolve(path, from)
      const targetLinks = target === undefined ? undefined : this.#links.get(target)
      if (target === undefined || targetLinks === undefined || seen.has(target)) continue
      names.push(...this.#exportedNames(target, targetLinks, new Set([...seen, path])))
    }
    return [...new Set(names)]
  }

  #usersOf(path: string, name: string): string[] {
    const byName = this.#users.get(`${path} ${name}`) ?? []
    const byModule = this.#users.get(`${path} *`) ?? []
    return [...new Set([...byName, ...byModule])]
  }

  #recordUse(target: string, name: string, user: string): void {
    const key = `${target} ${name}`
    const users = this.#users.get(key)
    if (users === undefined) this.#users.set(key, new Set([user]))
    else users.add(user)
  }

  #resolve(from: string, specifier: string): string | undefined {
    if (specifier.startsWith('.')) return posix.join(dirname(from), specifier)
    const named = /^@parley\/([^/]+)(\/testing)?$/.exec(specifier)
    const folder = this.#repository.packages.find(folder => basename(folder) === named?.[1])
    if (named === null || folder === undefined) return undefined
    return `${folder}/src${named[2] ?? ''}/index.ts`
  }
}

interface Planted {
  /** What the fault must quote; undefined: the files are right and give no fault. */
  readonly fault: string | undefined
  readonly files: Readonly<Record<string, string>>
}

const PLANTED: readonly Planted[] = [
  { fault: 'no other package imports', files: { 'sip/src/index.ts': 'export const a = 1' } },
  {
    fault: 'no other package imports',
    files: { 'sip/src/index.ts': "export type * from './b.ts'", 'sip/src/b.ts': 'export interface B {}' },
  },
  {
    fault: 'only tests import',
    files: { 'sip/src/index.ts': 'export class A {}', 'packages/leg/src/a.test.ts': "import { A } from '@parley/sip'" },
  },
  {
    fault: 'only tests import',
    files: { 'sip/src/index.ts': 'export class A {}', 'scripts/a.ts': "import { A as B } from '@parley/sip'" },
  },
  {
    fault: "no other package's tests import",
    files: { 'sip/src/testing/index.ts': 'export function a() {}', 'sip/src/a.test.ts': "import './testing/index.ts'" },
  },
  { fault: 'no other file of the package', files: { 'sip/src/a.ts': 'export const a = 1, [b] = [2]\nvoid [a, b]' } },
  { fault: 'no other file of the package', files: { 'sip/src/a.ts': 'export default 1' } },
  { fault: 'no other file of the package', files: { 'sip/src/a.ts': 'enum A {}\nexport { A as B }' } },
  { fault: 'no other file of the package', files: { 'interop/a.ts': 'export type A = 1' } },
  {
    fault: 'only tests use',
    files: { 'sip/src/a.ts': 'export function a() {}', 'sip/src/a.test.ts': "import { a } from './a.ts'\na()" },
  },
  {
    fault: undefined,
    files: {
      'sip/src/index.ts': "export { type A, a as renamed } from './a.ts'\nexport * from './b.ts'",
      'sip/src/a.ts': 'export type A = 1\nexport const a = 1\nexport const tested = 1\nvoid tested',
      'sip/src/a.test.ts': "import { tested } from './a.ts'",
      'sip/src/b.ts': 'export class B {}\nexport const { c } = { c: 1 }',
      'sip/src/testing/index.ts': "export { d } from '../d.ts'",
      'sip/src/d.ts': 'export const d = 1',
      'packages/leg/src/e.ts': "import type { A, B } from '@parley/sip'\nexport { renamed } from '@parley/sip'",
      'packages/leg/src/f.ts': "import { renamed } from './e.ts'\nexport const c: import('@parley/sip').c = renamed",
      'packages/leg/src/g.ts': "import * as f from './f.ts'\nconst { h } = await import('./h.ts')",
      'packages/leg/src/h.ts': 'export const h = 1',
      'interop/d.test.ts': "import { d } from '@parley/sip/testing'",
      'interop/i.ts': 'export const i = 1',
      'scripts/j.ts': "import { i } from '../interop/i.ts'",
    },
  },
]

/** Faults of this check: planted files that it judges wrongly. */
function faultsOfCheck(): string[] {
  const faults: string[] = []
  for (const { fault, files } of PLANTED) {
    const repository = { sources: new Map(Object.entries(files)), packages: ['sip', 'packages/leg'] }
    const found = new ExportGraph(repository).faults()
    if (fault === undefined) faults.push(...found.map(text => `a false alarm: ${text}`))
    else if (!found.some(text => text.includes(fault)))
      faults.push(`a planted unused export passed: ${JSON.stringify(files)}`)
  }
  console.log(`unused exports: ${PLANTED.length - faults.length} of ${PLANTED.length} planted cases judged right`)
  return faults
}

/** Faults of the project: exports that nothing uses. */
export function unusedExportFaults(): string[] {
  const paths = typeScriptFiles()
  const sources = new Map(paths.map(path => [path, readFileSync(join(repositoryRoot, path), 'utf8')]))
  const faults = new ExportGraph({ sources, packages: workspaceFolders() }).faults()
  console.log(`unused exports: ${paths.length} files checked`)
  return [...faultsOfCheck(), ...(paths.length === 0 ? ['no file was checked for unused exports'] : []), ...faults]
}
