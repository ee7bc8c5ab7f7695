import { type Issue, importConfig, jsonFault, modelBindings, notification, version } from '@parley/contract'
import type { z } from 'zod'
import { DRAFT_LIMITS } from '../draft/limits.ts'
import { given, isObject, type JsonObject, shown } from './json.ts'
import { SourceLocation } from './source-location.ts'

/** The body of an import request, without its `reference`. */
export interface ImportBody {
  readonly agent_version: number
  readonly agent: JsonObject
  readonly flow: JsonObject
  readonly config: ImportConfig
  readonly model_bindings: z.output<typeof modelBindings>
}

export type ImportConfig = z.output<typeof importConfig>

/** Maximum tools in all parts of the flow together. More than an agent has actions, since the same tool may be repeated. */
const MAX_TOOLS = 1000
/** Maximum issues of one kind in an answer. */
const MAX_ISSUES = 100
/** Maximum objects, lists and scalars in agent and flow together: twice as many as the edges of the largest draft have. */
const MAX_VALUES = 500_000
/** Maximum items of one list. */
const MAX_ITEMS = 10_000
/** Maximum edges of one node. Edges beyond the limit of a draft, up to this limit, are left out with a warning. */
const MAX_EDGES = 1000

/** Issues with the form, depth or size of a body, with any of which it is not read. */
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

/** Bounds the time that an export costs: reports the first list that is too long, or the part that has too many values. */
function countIssues({ agent, flow }: { readonly [name: string]: unknown }): Issue[] {
  const counts = { values: 0 }
  for (const [name, part] of Object.entries({ agent, flow })) {
    const long = longList(part, new SourceLocation([name]), counts)
    if (long !== null) return [{ path: long.path, message: `more than ${MAX_ITEMS} items: leave out what is not used` }]
    if (counts.values > MAX_VALUES) {
      const message = `more than ${MAX_VALUES} values, counted from the start of the export: leave out what is not used`
      return [{ path: `/${name}`, message }]
    }
  }
  return []
}

/** The first list that is too long; null: there is none. Stops counting at the limit. */
function longList(value: unknown, location: SourceLocation, counts: { values: number }): SourceLocation | null {
  counts.values++
  if (typeof value !== 'object' || value === null || counts.values > MAX_VALUES) return null
  if (Array.isArray(value) && value.length > MAX_ITEMS) return location
  const isList = Array.isArray(value)
  for (const [name, member] of Object.entries(value)) {
    // Most values of an export are scalars: they need no location.
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
  const atMost = (count: number, max: number, location: SourceLocation) => {
    if (count > max && issues.length < MAX_ISSUES) issues.push({ path: location.path, message: `more than ${max}` })
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

/** Issues with the name of the export, which becomes the name of the new agent. */
export function nameIssues(agent: JsonObject): Issue[] {
  const name = agent.agent_name
  const isName = typeof name === 'string' && /\S/.test(name) && [...name].length <= 256
  return isName
    ? []
    : [
        {
          path: '/agent/agent_name',
          message: 'must be the name of the new agent, 1 to 256 characters that are not all white space',
        },
      ]
}

/** The agent version in the export; undefined: the export has none. */
export function exportedVersion(agent: JsonObject): unknown {
  const engine = agent.response_engine
  return given(agent, 'version') ?? (isObject(engine) ? given(engine, 'version') : undefined)
}

export function versionIssues(agent: JsonObject, agentVersion: number): Issue[] {
  const exported = exportedVersion(agent)
  if (exported === undefined || exported === agentVersion) return []
  const where = given(agent, 'version') === undefined ? 'agent.response_engine.version' : 'agent.version'
  return [{ path: '/agent_version', message: `differs from ${where}, which is ${shown(JSON.stringify(exported))}` }]
}

/** Why the agent cannot be imported: only agents with a conversation flow can. Null: it can. */
export function engineFault(agent: JsonObject): string | null {
  const engine = given(agent, 'response_engine')
  if (engine === undefined) return null
  const type = isObject(engine) ? engine.type : undefined
  if (type === 'conversation-flow') return null
  return `Only agents whose response_engine.type is conversation-flow are imported, not ${shown(JSON.stringify(type ?? null))}`
}

/** The fault of a webhook URL in the export that `config.webhook` does not confirm: no webhook is imported unnoticed. Null: there is no fault. */
export function webhookFault(agent: JsonObject, config: ImportConfig | undefined): string | null {
  const url = given(agent, 'webhook_url')
  if (url === undefined || url === '' || url === config?.webhook?.url) return null
  return 'agent.webhook_url must be null or equal config.webhook.url'
}

export function webhookIssues(config: ImportConfig): Issue[] {
  if (config.webhook === undefined || notification.shape.url.safeParse(config.webhook.url).success) return []
  return [{ path: '/config/webhook/url', message: 'not an http or https URL' }]
}
