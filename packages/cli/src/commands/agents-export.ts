import { open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { randomToken, systemRandom } from '@parley/kernel'
import { parseCommand, UsageError } from '../usage.ts'
import { diagnosticLines } from './agents-text.ts'
import { onlyArgument, type Work } from './api-command.ts'

export const EXPORT_USAGE = 'parley agents export AGENT [--version N | --draft] [--include-webhook] [--out FILE]'

/** Exit code 0 if the export was written completely, to the file or to standard output. */
export function exportAgent(args: string[]): Work {
  const options = {
    version: { type: 'string' },
    draft: { type: 'boolean', default: false },
    'include-webhook': { type: 'boolean', default: false },
    out: { type: 'string' },
    json: { type: 'boolean', default: false },
  } as const
  const { values, positionals } = parseCommand(args, options, EXPORT_USAGE)
  const agent_id = onlyArgument(positionals, EXPORT_USAGE)
  const { version, draft, out, 'include-webhook': include_webhook } = values
  if (version !== undefined && !/^(0|[1-9][0-9]{0,8})$/.test(version))
    throw new UsageError(`--version takes the number of a version, not ${JSON.stringify(version)}`)
  if (version !== undefined && draft) throw new UsageError('--version and --draft: give one of them')
  return async ({ client, print, remark }) => {
    const query = {
      ...(version !== undefined && { version: Number(version) }),
      ...(draft && { draft }),
      ...(include_webhook && { include_webhook }),
    }
    const exported = await client.agents.export({ params: { agent_id }, query })
    remark(diagnosticLines(exported.warnings))
    const text = `${JSON.stringify(exported, null, 2)}\n`
    if (out === undefined) print(text)
    else
      await writeAtomically(out, text).catch(cause => {
        throw new Error(`--out: ${out} cannot be written (${(cause as NodeJS.ErrnoException).code})`, { cause })
      })
    return 0
  }
}

async function writeAtomically(path: string, text: string): Promise<void> {
  const temporary = join(dirname(path), `.${randomToken(systemRandom, 16)}.part`)
  const file = await open(temporary, 'wx')
  try {
    await file.writeFile(text).finally(() => file.close())
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
