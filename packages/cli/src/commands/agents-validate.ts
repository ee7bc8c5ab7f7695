import type { ParleyClient, ResultFrom } from '@parley/client'
import { parseCommand } from '../usage.ts'
import { counted, diagnosticLines, printable } from './agents-text.ts'
import { onlyArgument, type Work } from './api-command.ts'

export const VALIDATE_USAGE = 'parley agents validate AGENT [--fix] [--json]'

const HELP = ['--fix applies the first fix of each error, one after another, and prints each.']

/** Maximum fixes of one command, so that two fixes that undo each other cannot go on forever. */
const MAX_FIXES = 200

type Validation = ResultFrom<'drafts.validate'>
type Diagnostic = Validation['diagnostics'][number]

/** Exit code 1: the draft has errors. */
export function validate(args: string[]): Work {
  const json = { type: 'boolean', default: false } as const
  const fix = { type: 'boolean', default: false } as const
  const { values, positionals } = parseCommand(args, { json, fix }, VALIDATE_USAGE, HELP)
  const agent_id = onlyArgument(positionals, VALIDATE_USAGE)
  return async ({ client, print, remark }) => {
    const found = values.fix
      ? await fixErrors(client, agent_id, label => remark(`fixed: ${printable(label)}\n`))
      : await client.drafts.validate({ params: { agent_id } })
    const errors = errorsIn(found).length
    const counts = `${counted(errors, 'error')}, ${counted(found.diagnostics.length - errors, 'warning')}`
    if (values.json) print(`${JSON.stringify(found, null, 2)}\n`)
    else print(`${diagnosticLines(found.diagnostics)}revision ${found.revision}: ${counts}\n`)
    return errors === 0 ? 0 : 1
  }
}

function errorsIn({ diagnostics }: Validation): Diagnostic[] {
  return diagnostics.filter(({ severity }) => severity === 'error')
}

/** Applies the first fix of the first error that has one, until no error has a fix. Resolves with the last validation. */
async function fixErrors(
  client: ParleyClient,
  agent_id: string,
  onFixed: (label: string) => void,
): Promise<Validation> {
  const params = { agent_id }
  let found = await client.drafts.validate({ params })
  for (let round = 0; round < MAX_FIXES; round++) {
    const fix = errorsIn(found)
      .flatMap(({ fixes = [] }) => fixes)
      .at(0)
    if (fix === undefined) return found
    const { draft } = await client.agents.get({ params })
    if (draft === null) return found
    const { draft_id } = draft
    await client.drafts.edit({ params, body: { draft_id, expected_revision: found.revision, edits: fix.edits } })
    onFixed(fix.label)
    found = await client.drafts.validate({ params })
  }
  return found
}
