import { type Issue, importConfig, jsonFault, modelBindings, notification, version } from '@parley/contract'
import type { z } from 'zod'
import { DRAFT_LIMITS } from '../draft/limits.ts'
import { given, isObject, type JsonObject, shown } from './json.ts'
import { SourceLocation } from './source-location.ts'

/** An import as it is sent, without its `reference`. */
export interface ImportBody {
  readonly agent_version: number
  readonly agent: JsonObject
  readonly flow: JsonObject
  readonly config: ImportConfig
  readonly model_bindings: z.output<typeof modelBindings>
}

export type ImportConfig = z.output<typeof importConfig>

/** Of all places together; more than an agent has actions, since the same tool may stand in many. */
const MAX_TOOLS = 1000
/** Most issues of one kind in an answer. */
const MAX_ISSUES = 100
/** Of agent and flow together: objects, lists and what stands in them. Twice what edges alone bring into a draft. */
const MAX_VALUES = 500_000
/** As many as an object has members at most. */
const MAX_ITEMS = 10_000
/** Of one node; what is more than a draft takes, but not more than this, is left out with a warning. */
const MAX_EDGES = 1000

/** Issues that keep a body from being read: its form, its depth or its size. */
export function formIssues(body: { readonly [name: string]: unknown }): Issue[] {
  const fault = jsonFault(body)
  if (fault !== null) return [{ path: new SourceLocation(fault.path).path, message: fault.message }]
  const issues: Issue[] = []
  for (const name of ['agent', 'flow'])
    if (!isObject(body[name])) issues.push({ path: `/${name}`, message: 'not an object' })
  for (const [name, schema] of [
    ['agent_version', version],
    ['config', importConfig],
    ['model_bindings', modelBindings],
  ] as const)
    if (body[name] !== undefined) issues.push(...schemaIssues(schema, body[name], name))
  if (isObject(body.flow)) issues.push(...sizeIssues(body.flow))
  return issues.length > 0 ? issues : countIssues(body)
}

/** What an export holds costs time by the value, whatever it says: the part and the first list that are too much. */
function countIssues({ agent, flow }: { readonly [name: string]: unknown }): Issue[] {
  const counts = { values: 0 }
  for (const [name, part] of Object.entries({ agent, flow })) {
    const long = longList(part, new SourceLocation([name]), counts)
    if (long !== null) return [{ path: long.path, message: `more than ${MAX_ITEMS} items: leave out what is not used` }]
    if (counts.values > MAX_VALUES) {
      const message = `with what stands before it more than ${MAX_VALUES} values: leave out what is not used`
      return [{ path: `/${name}`, message }]
    }
  }
  return []
}

/** The first list that is too long; stops where there are too many values. */
function longList(value: unknown, location: SourceLocation, counts: { values: number }): SourceLocation | null {
  counts.values++
  if (typeof value !== 'object' || value === null || counts.values > MAX_VALUES) return null
  if (Array.isArray(value) && value.length > MAX_ITEMS) return location
  const isList = Array.isArray(value)
  for (const [name, member] of Object.entries(value)) {
    // Scalars are most of an export: no place is made for them.
    if (typeof member !== 'object' || member === null) counts.values++
    else {
      const long = longList(member, isList ? location.item(Number(name)) : location.in(name), counts)
      if (long !== null) return long
    }
    if (counts.values > MAX_VALUES) return null
  }
  return null
}

function schemaIssues(schema: z.ZodType, value: unknown, name: string): Issue[] {
  const found = schema.safeParse(value).error?.issues ?? []
  return found.slice(0, MAX_ISSUES).map(issue => ({
    path: new SourceLocation([name, ...issue.path.map(part => (typeof part === 'number' ? part : String(part)))]).path,
    message: issue.message,
  }))
}

function sizeIssues(flow: JsonObject): Issue[] {
  const issues: Issue[] = []
  const atMost = (count: number, most: number, location: SourceLocation) => {
    if (count > most && issues.length < MAX_ISSUES) issues.push({ path: location.path, message: `more than ${most}` })
  }
  const root = new SourceLocation(['flow'])
  const components = listIn(flow, 'components')
  atMost(components.length, DRAFT_LIMITS.components, root.in('components'))
  const owners = [{ owner: flow, location: root }]
  components.forEach((owner, index) => {
    if (isObject(owner)) owners.push({ owner, location: root.in('components').item(index) })
  })
  let tools = 0
  for (const { owner, location } of owners.slice(0, 1 + DRAFT_LIMITS.components)) {
    const nodes = listIn(owner, 'nodes')
    atMost(nodes.length, DRAFT_LIMITS.nodes, location.in('nodes'))
    tools += listIn(owner, 'tools').length
    nodes.forEach((node, index) => {
      if (!isObject(node)) return
      tools += listIn(node, 'tools').length
      atMost(listIn(node, 'edges').length, MAX_EDGES, location.in('nodes').item(index).in('edges'))
    })
  }
  atMost(tools, MAX_TOOLS, root.in('tools'))
  return issues
}

function listIn(owner: JsonObject, name: string): readonly unknown[] {
  const list = owner[name]
  return Array.isArray(list) ? list : []
}

/** The name is the new agent's. */
export function nameIssues(agent: JsonObject): Issue[] {
  const name = agent.agent_name
  const isName = typeof name === 'string' && /\S/.test(name) && [...name].length <= 256
  return isName ? [] : [{ path: '/agent/agent_name', message: 'the name of the new agent, 1 to 256 characters' }]
}

/** The version that an export says it is of; undefined where it says none. */
export function exportedVersion(agent: JsonObject): unknown {
  const engine = agent.response_engine
  return given(agent, 'version') ?? (isObject(engine) ? given(engine, 'version') : undefined)
}

export function versionIssues(agent: JsonObject, agentVersion: number): Issue[] {
  const said = exportedVersion(agent)
  if (said === undefined || said === agentVersion) return []
  const where = given(agent, 'version') === undefined ? 'agent.response_engine.version' : 'agent.version'
  return [{ path: '/agent_version', message: `differs from ${where}, ${shown(JSON.stringify(said))}` }]
}

/** Only agents with a conversation flow import; null where this is one. */
export function engineFault(agent: JsonObject): string | null {
  const engine = given(agent, 'response_engine')
  if (engine === undefined) return null
  const type = isObject(engine) ? engine.type : undefined
  if (type === 'conversation-flow') return null
  return `Only agents whose response_engine.type is conversation-flow are imported, not ${shown(JSON.stringify(type ?? null))}`
}

/** A webhook URL in the export must be confirmed in the config, so that no webhook is taken over unseen; null: it is, or there is none. */
export function webhookFault(agent: JsonObject, config: ImportConfig | undefined): string | null {
  const url = given(agent, 'webhook_url')
  if (url === undefined || url === '' || url === config?.webhook?.url) return null
  return 'agent.webhook_url must be null, or the url of config.webhook'
}

export function webhookIssues(config: ImportConfig): Issue[] {
  if (config.webhook === undefined || notification.shape.url.safeParse(config.webhook.url).success) return []
  return [{ path: '/config/webhook/url', message: 'not an http or https URL' }]
}
