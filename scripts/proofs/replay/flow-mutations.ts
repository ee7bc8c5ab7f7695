import type { Draft } from '@parley/flow'
import { type Random, randomBelow } from '@parley/kernel'

/** A change of one place of an agent. */
export interface FlowMutation {
  readonly what: string
  readonly draft: Draft
}

interface Condition {
  readonly type: string
  prompt?: string
  readonly equations?: { right?: string }[]
}
interface Edge {
  readonly id: string
  destination_node_id?: string | null
  readonly transition_condition: Condition
}
interface Node {
  readonly id: string
  readonly instruction?: { text: string }
  edges?: Edge[]
}
interface Action {
  readonly action_id: string
  readonly response_variables?: Record<string, string>
  readonly query?: Record<string, string>
  url: string
}
interface MutableDraft {
  readonly settings: { reminderTriggerMs?: number }
  readonly actions: Action[]
  readonly flow: { global_prompt: string; readonly nodes: Node[] }
}
type Place = readonly [what: string, mutate: (draft: MutableDraft, random: Random) => void]

/** How often a change is made where the call went. */
const NEAR = { times: 9, of: 10 }

/** One change of the draft by chance; `used`: ids of the nodes and actions of a call. Not every change makes a valid agent. */
export function mutate(draft: Draft, used: ReadonlySet<string>, random: Random): FlowMutation {
  const copy = structuredClone(draft) as unknown as MutableDraft
  const all = placesOf(copy)
  const near = all.filter(([what]) => used.has(what.split(' ')[0]!))
  const places = randomBelow(random, NEAR.of) < NEAR.times && near.length > 0 ? near : all
  const [what, change] = places[randomBelow(random, places.length)]!
  change(copy, random)
  return { what, draft: copy as unknown as Draft }
}

/** Each begins with the id of its node or action. */
function placesOf({ flow, actions }: MutableDraft): Place[] {
  const ofNodes = flow.nodes.flatMap(({ id, instruction, edges = [] }, at): Place[] => [
    ...(instruction === undefined ? [] : textPlaces(id, at)),
    ...edges.flatMap((edge, number) => edgePlaces(id, at, edge, number)),
    ...(edges.length < 2
      ? []
      : ([
          [`${id} tries its edges the other way round`, ({ flow }) => void flow.nodes[at]!.edges!.reverse()],
        ] as Place[])),
  ])
  return [...ofNodes, ...actions.flatMap(actionPlaces), ...AGENT_PLACES]
}

const AGENT_PLACES: readonly Place[] = [
  ['agent has another global prompt', ({ flow }) => set(flow, 'global_prompt', `${flow.global_prompt} Be brief.`)],
  ['agent reminds the caller sooner', ({ settings }) => set(settings, 'reminderTriggerMs', 3000)],
  ['agent reminds the caller later', ({ settings }) => set(settings, 'reminderTriggerMs', 15_000)],
]

function textPlaces(id: string, at: number): Place[] {
  const edit = ({ nodes }: MutableDraft['flow'], change: (text: string) => string) => {
    const { instruction } = nodes[at]!
    instruction!.text = change(instruction!.text)
  }
  return [
    [`${id} says one more sentence`, ({ flow }) => edit(flow, text => `${text} Bueno, OK.`)],
    [`${id} says one word less`, ({ flow }) => edit(flow, text => text.replace(/^\S+ (?=\S)/, ''))],
  ]
}

function edgePlaces(
  id: string,
  at: number,
  { transition_condition: { prompt, equations } }: Edge,
  number: number,
): Place[] {
  const edge = ({ flow }: MutableDraft) => flow.nodes[at]!.edges![number]!
  const places: Place[] = [
    [`${id} has no edge ${number}`, ({ flow }) => void flow.nodes[at]!.edges!.splice(number, 1)],
    [
      `${id} leads elsewhere by edge ${number}`,
      (draft, random) =>
        set(edge(draft), 'destination_node_id', draft.flow.nodes[randomBelow(random, draft.flow.nodes.length)]!.id),
    ],
  ]
  if (prompt !== undefined)
    places.push([
      `${id} has another condition at edge ${number}`,
      draft => set(edge(draft).transition_condition, 'prompt', 'The caller sings a song'),
    ])
  if (equations?.[0]?.right !== undefined)
    places.push([
      `${id} compares with another value at edge ${number}`,
      draft => set(edge(draft).transition_condition.equations![0]!, 'right', '7'),
    ])
  return places
}

function actionPlaces({ action_id: id, response_variables = {}, query = {} }: Action, at: number): Place[] {
  return [
    [`${id} has another path`, ({ actions }) => set(actions[at]!, 'url', `${actions[at]!.url}2`)],
    ...Object.keys(response_variables).map(
      (name): Place => [`${id} loses ${name}`, ({ actions }) => void delete actions[at]!.response_variables![name]],
    ),
    ...Object.keys(query).map(
      (name): Place => [`${id} is asked with another ${name}`, ({ actions }) => set(actions[at]!.query!, name, 'none')],
    ),
  ]
}

function set<Of extends object, Name extends keyof Of>(of: Of, name: Name, value: Of[Name]): void {
  of[name] = value
}
