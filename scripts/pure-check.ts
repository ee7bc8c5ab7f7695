// In the pure packages (kernel, nodes, sip, media, flow, dialogue, providers) time and randomness are arguments: no clock, timer or generator is read outside an io folder.
// Nobody but the command line reads the environment. Plants faults of its own and fails when one passes.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from '@swc/core'
import { repositoryRoot, typeScriptFiles } from './repository.ts'

const PURE_PACKAGES = [
  'sip/',
  'media/',
  'packages/kernel/',
  'packages/nodes/',
  'packages/flow/',
  'packages/dialogue/',
  'packages/providers/',
]
/** `src/io/`, and `src/VENDOR/io/` of a vendor of services; the harnesses of adapters wait for real sockets. */
const IO_FOLDER = /\/src\/([^/]+\/)?io\/|^packages\/providers\/.*\/testing\//
const TIMERS = new Set(['setTimeout', 'setInterval', 'setImmediate'])
const CLOCKS = new Set(['Date.now', 'performance.now', 'process.hrtime', 'Math.random'])

interface Rules {
  readonly time: boolean
  readonly environment: boolean
}

/** Names of what the source reads and may not, in order of appearance. */
function impurities(source: string, rules: Rules): string[] {
  const found: string[] = []
  visit(parseSync(source, { syntax: 'typescript', target: 'es2022' }), rules, found)
  return found
}

/** swc's syntax tree is plain data: every value with a `type` is a node. */
function visit(node: unknown, rules: Rules, found: string[]): void {
  if (Array.isArray(node)) for (const item of node) visit(item, rules, found)
  if (!isNode(node)) {
    if (typeof node === 'object' && node !== null && !Array.isArray(node)) visitChildren(node, rules, found)
    return
  }
  const fault = faultOf(node, rules)
  if (fault !== undefined) found.push(fault)
  else visitChildren(node, rules, found)
}

function visitChildren(node: object, rules: Rules, found: string[]): void {
  for (const [key, child] of Object.entries(node)) {
    // The name of a property or of a method, or a name in a type, reads nothing.
    const isPlainName = (key === 'property' || key === 'key') && isNode(child) && child.type === 'Identifier'
    if (!isPlainName && key !== 'typeAnnotation') visit(child, rules, found)
  }
}

function faultOf(node: SyntaxNode, rules: Rules): string | undefined {
  if (node.type === 'Identifier') return rules.time && TIMERS.has(String(node.value)) ? String(node.value) : undefined
  if (node.type === 'NewExpression') {
    const isNow =
      isNode(node.callee) && node.callee.value === 'Date' && !(node.arguments as unknown[] | undefined)?.length
    return rules.time && isNow ? 'new Date()' : undefined
  }
  if (node.type !== 'MemberExpression' || !isNode(node.object) || !isNode(node.property)) return undefined
  const property = String(node.property.value)
  // `globalThis.Date.now` is a member of a member.
  const object = String(isNode(node.object.property) ? node.object.property.value : node.object.value)
  const name = `${object}.${property}`
  if (rules.time && (CLOCKS.has(name) || (object === 'globalThis' && TIMERS.has(property)))) return name
  return rules.environment && name === 'process.env' ? name : undefined
}

interface SyntaxNode {
  readonly type: string
  readonly [field: string]: unknown
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

function rulesFor(path: string): Rules {
  const isProduct = /^(sip|media|packages)\//.test(path) && !/\.test\.ts$|\/fuzz\/|\/fixtures\//.test(path)
  return {
    time: isProduct && PURE_PACKAGES.some(folder => path.startsWith(folder)) && !IO_FOLDER.test(path),
    environment: isProduct && !/^packages\/cli\/|\/src\/testing\//.test(path),
  }
}

const PLANTED: Readonly<Record<string, string>> = {
  'Date.now': 'export const t = () => Date.now()',
  'performance.now': 'const f = performance.now\nexport default f',
  'Math.random': 'export class A { x = Math.random() * 2 }',
  setTimeout: 'export const later = (f: () => void) => { setTimeout(f, 10) }',
  setInterval: 'const schedule = setInterval\nexport { schedule }',
  'globalThis.setTimeout': 'globalThis.setTimeout(() => {}, 1)',
  'new Date()': 'export const when = new Date().toISOString()',
  'process.env': 'export const home = process.env.HOME',
}

const INNOCENT =
  'export const a = { setTimeout: 1 }; export const b = a.setTimeout; export const c = new Date(0)\n' +
  'export function d(time: { now(): number }): number { return time.now() } // Date.now()\n' +
  "export const e = 'Math.random()'\n"

function checkTheCheck(): string[] {
  const all = { time: true, environment: true }
  const missed = Object.entries(PLANTED).filter(([name, source]) => impurities(source, all).join() !== name)
  const alarms = impurities(INNOCENT, all)
  console.log(
    `pure parts: ${Object.keys(PLANTED).length - missed.length} of ${Object.keys(PLANTED).length} planted faults caught`,
  )
  return [
    ...missed.map(([name]) => `a planted fault passed: ${name}`),
    ...alarms.map(name => `a false alarm: ${name} in innocent code`),
  ]
}

function checkHouse(): string[] {
  const faults: string[] = []
  let checked = 0
  for (const path of typeScriptFiles()) {
    const rules = rulesFor(path)
    if (!rules.time && !rules.environment) continue
    checked++
    const source = readFileSync(join(repositoryRoot, path), 'utf8')
    for (const name of impurities(source, rules))
      faults.push(`${path} reads ${name}: it belongs into io/ or an argument`)
  }
  console.log(`pure parts: ${checked} files checked`)
  return checked === 0 ? ['no file was checked'] : faults
}

const faults = [...checkTheCheck(), ...checkHouse()]
for (const fault of faults) console.error(fault)
process.exitCode = faults.length === 0 ? 0 : 1
