import { checkTelephony } from '../plan/check-telephony.ts'
import { checkDraft, reportIssue } from '../plan/compile.ts'
import type { Diagnostic, DiagnosticCode } from '../plan/diagnostic.ts'
import { type DraftContent, tryReadDraft } from '../plan/draft.ts'
import { Findings } from '../plan/findings.ts'
import { checkKnowledge } from './check-knowledge.ts'
import { checkLanguages } from './check-languages.ts'
import { checkModels } from './check-models.ts'
import { checkRealtime } from './check-realtime.ts'
import { checkSecrets } from './check-secrets.ts'
import { checkVoices } from './check-voices.ts'
import type { DraftEnvironment } from './draft-environment.ts'

/** The code that the API reports for codes that only compilation tells apart. */
const API_CODES: Partial<Record<DiagnosticCode, DiagnosticCode>> = {
  component_unknown: 'node_unknown',
  component_recursive: 'unsupported_capability',
  draft_malformed: 'unsupported_capability',
  end_unreachable: 'node_unreachable',
}

/**
 * Diagnostics of a draft: first the errors, with which it cannot be published, then the warnings, each sorted by path, at
 * most 500 of either. The edits of each fix apply unchanged to this draft and resolve the finding. A stored draft that no
 * longer matches the schema yields errors. Never throws.
 */
export function validate(draft: DraftContent, draftEnvironment: DraftEnvironment): Diagnostic[] {
  const findings = new Findings()
  const read = tryReadDraft(draft)
  if (read.ok) {
    checkDraft(read.draft, findings)
    checkTelephony(read.draft, findings, draftEnvironment)
    checkModels(read.draft, draftEnvironment, findings)
    checkRealtime(read.draft, draftEnvironment, findings)
    checkVoices(read.draft, draftEnvironment, findings)
    checkLanguages(read.draft, draftEnvironment, findings)
    checkSecrets(read.draft, draftEnvironment, findings)
    checkKnowledge(read.draft, draftEnvironment, findings)
  } else for (const issue of read.issues) reportIssue(issue, findings)
  return findings.sorted().map(found => ({ ...found, code: API_CODES[found.code] ?? found.code }))
}
