import { edge, type Json, node, nodeId, nodeTypeNamed, slot } from '@parley/nodes'
import type { ImportFindings } from './import-findings.ts'
import { isObject, type JsonObject, objectOf } from './json.ts'
import { assignIds, type Found, type IdRule, objectsIn, scalar } from './names.ts'
import { isOpen, optionFor } from './read-value.ts'
import { SourceLocation } from './source-location.ts'
import { type FoundTool, ToolCollector } from './tool-collector.ts'

const FORBIDDEN = /[/\p{Cc}]/gu
const NODE: IdRule = {
  field: 'id',
  legal: nodeId,
  stem: (item, id) => (id || String(item.type ?? '')).replace(FORBIDDEN, '_'),
  fallback: 'node',
  maxLength: 63,
}
const COMPONENT: IdRule = {
  field: 'component_id',
  legal: nodeId,
  stem: (_, id) => id.replace(FORBIDDEN, '_'),
  fallback: 'component',
  maxLength: 63,
}
const EDGE: IdRule = { field: 'id', legal: edge.shape.id, stem: (_, id) => id, fallback: 'edge', maxLength: 64 }

/**
 * A copy of the flow with valid and unique ids and changed references. The tools of the flow, its components and its nodes are
 * returned separately, because on this platform they belong to the agent. Items that are no objects, in lists whose items
 * have ids, become null.
 */
export function normaliseIds(
  source: JsonObject,
  findings: ImportFindings,
): { flow: JsonObject; tools: readonly FoundTool[] } {
  const flow = structuredClone(source)
  const root = new SourceLocation(['flow'])
  const components = objectsIn(flow, 'components', root, findings)
  const componentIds = assignIds(components, COMPONENT, findings)
  const tools = new ToolCollector(findings)
  const toolIdsOfFlow = tools.take(flow, root).renamed
  normaliseNodes(flow, root, toolIdsOfFlow)
  for (const { item, location } of components) {
    const { renamed } = tools.take(item, location)
    normaliseNodes(item, location, new Map([...toolIdsOfFlow, ...renamed]))
  }
  tools.normaliseNames()
  return { flow, tools: tools.all }

  function normaliseNodes(owner: JsonObject, at: SourceLocation, toolIds: ReadonlyMap<string, string>): void {
    const nodes = objectsIn(owner, 'nodes', at, findings)
    const nodeIds = assignIds(nodes, NODE, findings)
    rename(owner, 'start_node_id', nodeIds)
    for (const { item, location } of nodes) {
      if (nodeTypeNamed(item.type)?.exportDefinesTools === true) moveTools(item, location, toolIds, tools)
      rename(item, 'tool_id', toolIds)
      rename(item, 'component_id', componentIds)
      normaliseEdges(item, location, nodeIds, findings)
    }
  }
}

function normaliseEdges(
  source: JsonObject,
  location: SourceLocation,
  nodeIds: ReadonlyMap<string, string>,
  findings: ImportFindings,
): void {
  const edges: Found[] = []
  const option = optionFor(node, source)
  for (const name of slot.options) {
    if (!isReadAsEdge(option, name)) continue
    const single = source[name]
    if (name === 'edges') for (const found of objectsIn(source, name, location, findings)) edges.push(found)
    else if (isObject(single)) edges.push({ item: single, location: location.in(name) })
  }
  for (const { item } of edges) rename(item, 'destination_node_id', nodeIds)
  assignIds(edges, EDGE, findings)
  const setting = objectOf(source.global_node_setting)
  assignIds(objectsIn(setting, 'go_back_conditions', location.in('global_node_setting'), findings), EDGE, findings)
}

/** Whether an import reads the slot as edges. A node type that does not run yet has edges only in the slots of its schema. */
function isReadAsEdge(option: ReturnType<typeof optionFor>, name: string): boolean {
  const { shape, catchall } = option?._zod.def ?? {}
  return shape !== undefined && (!isOpen(catchall) || Object.hasOwn(shape, name))
}

/** Takes the tools that a node defines out of it and lists their ids in the node's `tool_ids`. */
function moveTools(
  node: JsonObject,
  location: SourceLocation,
  outer: ReadonlyMap<string, string>,
  tools: ToolCollector,
): void {
  const { renamed, ids } = tools.take(node, location)
  const own: Json[] = Array.isArray(node.tool_ids) ? node.tool_ids : []
  const current = own.map(id => (typeof id === 'string' ? (renamed.get(id) ?? outer.get(id) ?? id) : id))
  const named = new Set(current)
  const added = new Set(ids.filter(id => !named.has(id)))
  if (current.length + added.size > 0) node.tool_ids = [...current, ...added]
}

function rename(owner: JsonObject, name: string, ids: ReadonlyMap<string, string>): void {
  const id = ids.get(scalar(owner[name]))
  if (id !== undefined) owner[name] = id
}
