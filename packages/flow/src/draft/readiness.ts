import type { Diagnostic } from '../plan/diagnostic.ts'
import { Findings } from '../plan/findings.ts'
import type { Plan } from '../plan/plan.ts'
import { checkModels } from './check-models.ts'
import { checkSecrets } from './check-secrets.ts'
import { checkVoices } from './check-voices.ts'
import type { DraftEnvironment } from './draft-environment.ts'

/** The services that a run needs. */
interface RunNeeds {
  /** False for a run in text, which needs neither voice nor recogniser. */
  readonly speech: boolean
}

/**
 * Diagnostics of resources that a plan needs and the environment no longer has: secrets (`secret_not_found`), then models
 * (`model_not_ready`), then voices (`voice_not_found`). Empty: the plan can run.
 */
export function unreadyIn(
  { plan_schema_version: _, ...agent }: Plan,
  draftEnvironment: Pick<DraftEnvironment, 'models' | 'voices' | 'secrets'>,
  { speech }: RunNeeds,
): Diagnostic[] {
  const draft = { ...agent, source: null }
  const checks = [
    (findings: Findings) => checkSecrets(draft, draftEnvironment, findings),
    (findings: Findings) => checkModels(draft, draftEnvironment, findings),
    (findings: Findings) => speech && checkVoices(draft, draftEnvironment, findings),
  ]
  return checks.flatMap(check => {
    const findings = new Findings()
    check(findings)
    return findings.sorted()
  })
}
