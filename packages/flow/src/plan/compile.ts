import type { z } from 'zod'
import { checkCapabilities } from './check-capabilities.ts'
import { checkGraph } from './check-graph.ts'
import { checkVariables } from './check-variables.ts'
import type { Diagnostic, DiagnosticCode } from './diagnostic.ts'
import { Findings } from './findings.ts'
import { draftSchema, PLAN_SCHEMA_VERSION, type Plan } from './plan.ts'

export type Compilation =
  | { readonly ok: true; readonly plan: Plan; readonly warnings: readonly Diagnostic[] }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

/** Arrays and objects within each other that a draft may hold. */
const MAX_DEPTH = 64

/**
 * A draft from `name` on, as written, to the plan that engines run: every default filled in, frozen. With errors there is
 * no plan; diagnostics come errors first, then by path. Takes anything and never throws.
 */
export function compile(draft: unknown): Compilation {
  const findings = new Findings()
  if (isDeeperThan(draft, MAX_DEPTH)) {
    findings.error('draft_malformed', [], `Nested deeper than ${MAX_DEPTH} levels`)
    return { ok: false, diagnostics: findings.sorted() }
  }
  const parsed = draftSchema.safeParse(draft)
  if (!parsed.success) {
    for (const issue of parsed.error.issues) reportIssue(issue, findings)
    return { ok: false, diagnostics: findings.sorted() }
  }
  checkGraph(parsed.data, findings)
  checkCapabilities(parsed.data, findings)
  checkVariables(parsed.data, findings)
  const diagnostics = findings.sorted()
  if (diagnostics.some(diagnostic => diagnostic.severity === 'error')) return { ok: false, diagnostics }
  const { source: _, ...agent } = parsed.data
  const plan = structuredClone({ plan_schema_version: PLAN_SCHEMA_VERSION, ...agent }) as Plan
  return { ok: true, plan: freeze(plan), warnings: diagnostics }
}

function reportIssue(issue: z.core.$ZodIssue, findings: Findings): void {
  const path = issue.path.map(part => (typeof part === 'number' ? part : String(part)))
  findings.error(codeOf(path), path, issue.message)
}

function codeOf([member]: readonly (string | number)[]): DiagnosticCode {
  if (member === 'settings') return 'setting_invalid'
  return member === 'actions' ? 'action_invalid' : 'draft_malformed'
}

/** Also bounds what a circle of references would do. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some(member => isDeeperThan(member, levels - 1))
}

function freeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  for (const member of Object.values(value)) freeze(member)
  return Object.freeze(value)
}
