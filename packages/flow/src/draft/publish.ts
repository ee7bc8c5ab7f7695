import { createHash } from 'node:crypto'
import { canonicalJson } from '@parley/kernel'
import type { Diagnostic } from '../plan/diagnostic.ts'
import { type DraftContent, readDraft } from '../plan/draft.ts'
import { type Language, languagesOf } from '../plan/languages.ts'
import { type Plan, planFrom } from '../plan/plan.ts'
import type { DraftEnvironment } from './draft-environment.ts'
import { validate } from './validate.ts'

export type Publishable =
  | {
      readonly ok: true
      readonly plan: Plan
      /** Digest of the plan: `sha256:` and 64 hex digits. */
      readonly digest: string
      readonly warnings: readonly Diagnostic[]
      readonly channels: readonly Plan['settings']['channels'][number][]
      readonly languages: readonly Language[]
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[] }

/**
 * The plan as which a draft is published, and its digest. The plan contains secrets by id and version, and neither the
 * agent's id nor its version, so that equal drafts have equal digests. A draft with errors has no plan.
 */
export function planOf(draft: DraftContent, draftEnvironment: DraftEnvironment): Publishable {
  const diagnostics = validate(draft, draftEnvironment)
  if (diagnostics.some(found => found.severity === 'error')) return { ok: false, diagnostics }
  // A draft that an older version stored lacks newer members: parsing fills them in.
  const plan = planFrom(readDraft(draft))
  const { channels, language } = plan.settings
  return { ok: true, plan, digest: digestOf(plan), warnings: diagnostics, channels, languages: languagesOf(language) }
}

/** SHA-256 of the plan in the canonical form of RFC 8785, as `sha256:` and 64 hex digits. */
export function digestOf(plan: Plan): string {
  return `sha256:${createHash('sha256').update(canonicalJson(plan)).digest('hex')}`
}
