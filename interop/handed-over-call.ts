import type { ParleyClient, RequestTo } from '@parley/client'

type Edits = RequestTo<'drafts.edit'>['body']['edits']
type Node = Extract<Edits[number], { type: 'flow.node.put' }>['node']

/** Publishes a copy of the phone agent `clinic` whose conversation begins with the first of these nodes; returns its id. */
async function published(client: ParleyClient, name: string, nodes: readonly Node[]): Promise<string> {
  const { ref, draft } = await client.agents.clone({ params: { agent_id: 'clinic' }, body: { name } })
  const params = { agent_id: ref.id }
  const at = { draft_id: draft!.draft_id, expected_revision: draft!.revision }
  const edits: Edits = [
    ...nodes.map(node => ({ type: 'flow.node.put' as const, component_id: null, node })),
    { type: 'flow.start', component_id: null, node_id: nodes[0]!.id },
    // The phone synthesises its words while its first call rings.
    { type: 'agent.settings', values: { ringDurationMs: 120_000 } },
  ]
  const { revision } = await client.drafts.edit({ params, body: { ...at, edits } })
  await client.publications.publish({ params, body: { ...at, expected_revision: revision } })
  return ref.id
}

const staticText = (text: string) => ({ type: 'static_text' as const, text })

/**
 * Two agents of a platform: the first greets and hands its call to the second, which says a last line; `staysOnLine`: it waits for the
 * caller then.
 */
export async function handingOver(
  client: ParleyClient,
  { staysOnLine = false } = {},
): Promise<{ readonly first: string; readonly second: string; readonly missing: string }> {
  const last = (id: string, text: string): Node => ({
    id,
    type: 'end',
    instruction: staticText(text),
    speak_during_execution: true,
  })
  const swapTo = (agent_id: string): readonly Node[] => [
    {
      id: 'hand-over',
      type: 'agent_swap',
      agent_id,
      instruction: staticText('One moment, I hand you over.'),
      speak_during_execution: true,
      edge: {
        id: 'failed',
        transition_condition: { type: 'prompt', prompt: 'Swap failed' },
        destination_node_id: 'nobody',
      },
    },
    last('nobody', 'There is nobody else.'),
  ]
  const line = 'Specialist for {{topic}}.'
  const waiting: Node = { id: 'help', type: 'conversation', instruction: staticText(line) }
  const second = await published(client, 'Specialist', staysOnLine ? [waiting] : [last('bye', line)])
  return {
    second,
    first: await published(client, 'Desk', swapTo(second)),
    missing: await published(client, 'Lonely desk', swapTo('gone')),
  }
}
