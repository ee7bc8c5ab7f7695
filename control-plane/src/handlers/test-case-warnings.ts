import type { Diagnostic, TestCase } from '@parley/contract'

/** `level_db` and `pause_before_ms` of a step that does not set them. */
const SPEECH_LEVEL_DB = -20
const PAUSE_BEFORE_MS = 300

/** What a case sets that has no effect in its mode. */
export function testCaseWarnings(testCase: TestCase): Diagnostic[] {
  const { case_id, mode, caller } = testCase
  if (mode === 'text') return fieldsOfAudio(testCase).map(field => warning(`/cases/${case_id}${field}`, TEXT))
  return caller.kind === 'persona' ? [warning(`/cases/${case_id}/caller/kind`, PERSONA)] : []
}

const TEXT = 'This field has an effect in mode "audio" only.'
const PERSONA = 'A persona speaks in mode "text" only: the trials of this case will be errored.'

/** Fields, as JSON pointers into the case, that only trials with audio read. */
function fieldsOfAudio({ voice, caller }: TestCase): string[] {
  const fields = voice === null ? [] : ['/voice']
  if (caller.kind === 'persona') {
    const { interrupts, backchannels } = caller.behavior
    if (interrupts !== 'never') fields.push('/caller/behavior/interrupts')
    if (backchannels !== 'never') fields.push('/caller/behavior/backchannels')
    return fields
  }
  for (const [index, step] of caller.steps.entries()) {
    const path = `/caller/steps/${index}`
    if (step.level_db !== SPEECH_LEVEL_DB) fields.push(`${path}/level_db`)
    if (step.pause_before_ms !== PAUSE_BEFORE_MS) fields.push(`${path}/pause_before_ms`)
    if (step.interrupt_at_ms !== undefined) fields.push(`${path}/interrupt_at_ms`)
  }
  return fields
}

function warning(path: string, message: string): Diagnostic {
  return { code: 'not_executed', path, message, severity: 'warning' }
}
