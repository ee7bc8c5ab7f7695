import type { z } from 'zod'
import { checkActions } from './check-actions.ts'
import { checkGraph } from './check-graph.ts'
import { checkNodes } from './check-nodes.ts'
import { checkNotExecuted } from './check-not-executed.ts'
import { checkServiceSettings } from './check-service-settings.ts'
import { checkSettings } from './check-settings.ts'
import { checkTelephony } from './check-telephony.ts'
import { checkVariables } from './check-variables.ts'
import type { Diagnostic, DiagnosticCode } from './diagnostic.ts'
import { type DraftContent, tryReadDraft } from './draft.ts'
import { Findings } from './findings.ts'
import { type Plan, planFrom } from './plan.ts'

type Compilation =
  | { readonly ok: true; readonly plan: Plan; readonly warnings: readonly Diagnostic[] }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

/** Maximum nesting of arrays and objects in a draft. */
const MAX_DEPTH = 64

/**
 * Compiles a written draft (see `Draft`) into the plan that engines run: frozen, with every default filled in. A draft with
 * errors has no plan. Diagnostics are sorted: errors first, then by path. Accepts any value and never throws.
 */
export function compile(draft: unknown): Compilation {
  const findings = new Findings()
  if (isDeeperThan(draft, MAX_DEPTH)) {
    findings.error('draft_malformed', [], `The draft is nested deeper than ${MAX_DEPTH} levels: reduce the nesting`)
    return { ok: false, diagnostics: findings.sorted() }
  }
  const read = tryReadDraft(draft)
  if (!read.ok) {
    for (const issue of read.issues) reportIssue(issue, findings)
    return { ok: false, diagnostics: findings.sorted() }
  }
  checkDraft(read.draft, findings)
  checkTelephony(read.draft, findings)
  const diagnostics = findings.sorted()
  if (diagnostics.some(diagnostic => diagnostic.severity === 'error')) return { ok: false, diagnostics }
  return { ok: true, plan: planFrom(read.draft), warnings: diagnostics }
}

/** The checks of a draft that need no environment. */
export function checkDraft(draft: DraftContent, findings: Findings): void {
  checkGraph(draft, findings)
  checkNodes(draft, findings)
  checkActions(draft, findings)
  checkSettings(draft, findings)
  checkVariables(draft, findings)
  checkNotExecuted(draft, findings)
  checkServiceSettings(draft, findings)
}

export function reportIssue(issue: z.core.$ZodIssue, findings: Findings): void {
  const path = issue.path.map(part => (typeof part === 'number' ? part : String(part)))
  findings.error(codeOf(path), path, issue.message)
}

function codeOf([member]: readonly (string | number)[]): DiagnosticCode {
  if (member === 'settings') return 'setting_invalid'
  return member === 'actions' ? 'action_invalid' : 'draft_malformed'
}

/** Also bounds the work on circular references. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some(member => isDeeperThan(member, levels - 1))
}
