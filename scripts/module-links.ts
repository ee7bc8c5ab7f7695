import { parseSync } from '@swc/core'

/** What a module exports and imports. */
export interface ModuleLinks {
  /** Exported names with their local names; "default" is the name of a default export. */
  readonly exports: ReadonlyMap<string, string>
  /** Modules of `export * from`. */
  readonly starExports: readonly string[]
  /** Imported names by module; the name "*" stands for the whole module (namespaces, `import()`, `export *`). */
  readonly imports: readonly { readonly from: string; readonly name: string }[]
}

interface SyntaxNode {
  readonly type: string
  readonly [field: string]: unknown
}

/** Reads a TypeScript module's exports and imports. `tsx`: the module may contain JSX. */
export function moduleLinks(source: string, tsx = false): ModuleLinks {
  const links = { exports: new Map<string, string>(), starExports: [] as string[], imports: [] as ImportedName[] }
  const { body } = parse(source, tsx)
  for (const item of body) collect(item, links)
  if (/\bimport\s*\(/.test(source)) collectDynamicImports(body, links.imports)
  return links
}

/** How often a module names an identifier of its own, declaration included. */
export function localUses(source: string, name: string, tsx = false): number {
  let uses = 0
  walk(parse(source, tsx).body, node => {
    if (node.type === 'Identifier' && node.value === name) uses++
  })
  return uses
}

interface ImportedName {
  readonly from: string
  readonly name: string
}

interface Collected {
  readonly exports: Map<string, string>
  readonly starExports: string[]
  readonly imports: ImportedName[]
}

function parse(source: string, tsx: boolean): { readonly body: readonly SyntaxNode[] } {
  return parseSync(source, { syntax: 'typescript', tsx, target: 'es2022' }) as unknown as { body: SyntaxNode[] }
}

function collect(item: SyntaxNode, links: Collected): void {
  const from = stringOf(item.source)
  const specifiers = (item.specifiers ?? []) as SyntaxNode[]
  switch (item.type) {
    case 'ImportDeclaration':
      for (const specifier of specifiers) links.imports.push({ from, name: importedName(specifier) })
      return
    case 'ExportAllDeclaration':
      links.starExports.push(from)
      links.imports.push({ from, name: '*' })
      return
    case 'ExportNamedDeclaration':
      for (const specifier of specifiers) collectExportSpecifier(specifier, from, links)
      return
    case 'ExportDeclaration':
      for (const name of declaredNames(item.declaration as SyntaxNode)) links.exports.set(name, name)
      return
    case 'ExportDefaultDeclaration':
    case 'ExportDefaultExpression':
      links.exports.set('default', 'default')
      return
  }
}

function collectExportSpecifier(specifier: SyntaxNode, from: string, links: Collected): void {
  if (specifier.type === 'ExportNamespaceSpecifier') {
    links.exports.set(stringOf(specifier.name), '*')
    links.imports.push({ from, name: '*' })
    return
  }
  const original = stringOf(specifier.orig)
  links.exports.set(specifier.exported ? stringOf(specifier.exported) : original, original)
  if (from !== '') links.imports.push({ from, name: original })
}

function importedName(specifier: SyntaxNode): string {
  if (specifier.type === 'ImportNamespaceSpecifier') return '*'
  if (specifier.type === 'ImportDefaultSpecifier') return 'default'
  return stringOf(specifier.imported ?? specifier.local)
}

function declaredNames(declaration: SyntaxNode): string[] {
  if (declaration.type === 'VariableDeclaration')
    return (declaration.declarations as { id: SyntaxNode }[]).flatMap(({ id }) => boundNames(id))
  return [stringOf(declaration.identifier ?? declaration.id)]
}

/** Names that a pattern binds: an identifier, or those inside of a destructuring. */
function boundNames(pattern: SyntaxNode): string[] {
  switch (pattern.type) {
    case 'Identifier':
      return [stringOf(pattern)]
    case 'ArrayPattern':
      return (pattern.elements as (SyntaxNode | null)[]).flatMap(element => (element ? boundNames(element) : []))
    case 'ObjectPattern':
      return (pattern.properties as SyntaxNode[]).flatMap(boundNames)
    case 'AssignmentPatternProperty':
      return [stringOf(pattern.key)]
    case 'KeyValuePatternProperty':
      return boundNames(pattern.value as SyntaxNode)
    case 'AssignmentPattern':
      return boundNames(pattern.left as SyntaxNode)
    case 'RestElement':
      return boundNames(pattern.argument as SyntaxNode)
    default:
      return []
  }
}

function collectDynamicImports(body: readonly SyntaxNode[], imports: ImportedName[]): void {
  walk(body, node => {
    const isImport = node.type === 'CallExpression' && isNode(node.callee) && node.callee.type === 'Import'
    const argument = isImport ? (node.arguments as { expression: SyntaxNode }[])[0]?.expression : undefined
    if (argument?.type === 'StringLiteral') imports.push({ from: stringOf(argument), name: '*' })
    if (node.type === 'TsImportType') imports.push({ from: stringOf(node.argument), name: '*' })
  })
}

/** swc's syntax tree is plain data: every object with a `type` is a node. */
function walk(value: unknown, onNode: (node: SyntaxNode) => void): void {
  if (typeof value !== 'object' || value === null) return
  if (isNode(value)) onNode(value)
  for (const child of Object.values(value)) walk(child, onNode)
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/** The text of an identifier or of a string literal; empty for anything else. */
function stringOf(node: unknown): string {
  return isNode(node) && typeof node.value === 'string' ? node.value : ''
}
