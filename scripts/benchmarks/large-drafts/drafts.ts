const SENTENCE = 'Say hello to whoever calls, and ask for the name. '

/** Exports that make drafts of about 3 MB, by what they have most of; `unplaced`: members that a draft has no place for. */
export const EXPORTS: Readonly<Record<string, object>> = {
  nodes: exportOf({
    nodes: list(100, n => node(n, 100, 2, SENTENCE.repeat(2))),
    components: list(38, n => ({
      component_id: `c${n}`,
      name: 'x',
      start_node_id: 'n0',
      nodes: list(100, m => node(m, 100, 2, SENTENCE.repeat(2))),
    })),
  }),
  edges: exportOf({ nodes: list(276, n => node(n, 276, 90, 'hello')) }),
  texts: exportOf({ nodes: list(150, n => node(n, 150, 1, SENTENCE.repeat(400))) }),
  unplaced: exportOf(
    { nodes: [node(0, 1, 0, 'hello')] },
    list(14, () => oddMembers(8000)),
  ),
}

function exportOf(flow: object, more?: unknown): object {
  return {
    agent_version: 3,
    agent: {
      agent_name: 'Large',
      language: 'en-US',
      ...(more !== undefined && { more }),
      response_engine: { type: 'conversation-flow', conversation_flow_id: 'f' },
    },
    flow: { conversation_flow_id: 'f', start_speaker: 'agent', start_node_id: 'n0', ...flow },
    config: {
      providers: {
        stt: { provider: 'simulated', model: 'tones-1' },
        llm: {
          provider: 'simulated_hosted',
          model: { model_id: 'rules-1', provider: 'parley', tier: 'platform-served' },
        },
        tts: { provider: 'simulated', model: 'tones-1', voiceId: 'slt' },
      },
      recording: { required: true, channels: 'dual' },
    },
    model_bindings: {},
  }
}

function node(n: number, of: number, edges: number, text: string): object {
  return {
    id: `n${n}`,
    type: 'conversation',
    instruction: { type: 'prompt', text },
    edges: list(edges, e => ({
      id: `e${e}`,
      transition_condition: { type: 'prompt', prompt: 'They said so' },
      destination_node_id: `n${(n + e + 1) % of}`,
    })),
  }
}

function oddMembers(count: number): object {
  return Object.fromEntries(list(count, n => [`u${n}`, 'xxxxxxxxxxxxx']))
}

function list<Item>(length: number, item: (n: number) => Item): Item[] {
  return Array.from({ length }, (_, n) => item(n))
}
