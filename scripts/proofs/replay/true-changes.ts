import type { ActionRequest } from '@parley/conversation'
import type { Draft } from '@parley/flow'
import type { CallerCase } from '../../benchmarks/callers/cases.ts'
import type { CallerLine, CallVariant, VirtualAgentCalls } from '../../benchmarks/callers/virtual-agent-call.ts'

/** What an agent did in each turn of the caller (0: before the first), observed at its ports and not by a replay. */
export type ObservedTurns = readonly (readonly string[])[]

/** Notes nodes that are visited, texts that the voice is given, and actions that are run with what they send to the server at `origin`. */
export function observer(origin: string): CallVariant & { readonly turns: ObservedTurns } {
  const turns: string[][] = [[]]
  const note = (what: string) => void turns.at(-1)!.push(what)
  return {
    turns,
    onSpeech: text => note(`says ${text}`),
    onAction: request => note(`runs ${sentBy(request).replaceAll(origin, '')}`),
    onEvent: event => {
      if (event.type !== 'timeline') return
      const { item } = event
      if (item.kind === 'node') note(`is at ${item.node_id}`)
      if (item.kind === 'utterance' && item.role === 'user') turns.push([])
    },
  }
}

/** The same caller calls another agent on the same line. */
export async function turnsOfCall(
  calls: VirtualAgentCalls,
  example: CallerCase,
  line: CallerLine,
  draft: Draft,
): Promise<ObservedTurns> {
  const server = await calls.openServer()
  const { turns, ...observed } = observer(server.origin)
  await calls.run({ ...example, line }, server, { ...observed, draft }).finally(() => server.close())
  return turns
}

function sentBy({ action, arguments: given, render }: ActionRequest): string {
  const { url = '', query = {} } = action.kind === 'http' ? action : {}
  return JSON.stringify([
    action.action_id,
    render(url),
    Object.entries(query).map(([, value]) => render(`${value}`)),
    given,
  ])
}

/** The first turn in which two agents did something else; null: there is none. */
export function firstChange(before: ObservedTurns, after: ObservedTurns): number | null {
  const count = Math.max(before.length, after.length)
  for (let turn = 0; turn < count; turn++) if (JSON.stringify(before[turn]) !== JSON.stringify(after[turn])) return turn
  return null
}
