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
  longest: 63,
}
const COMPONENT: IdRule = {
  field: 'component_id',
  legal: nodeId,
  stem: (_, id) => id.replace(FORBIDDEN, '_'),
  fallback: 'component',
  longest: 63,
}
const EDGE: IdRule = { field: 'id', legal: edge.shape.id, stem: (_, id) => id, fallback: 'edge', longest: 64 }

/**
 * The flow with valid and unique ids, and all references changed with them. Tools of the flow, its components and its nodes
 * are returned apart: here they belong to the agent. In lists whose items have ids, items that are no objects become null.
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
  const ofFlow = tools.take(flow, root).renamed
  settleNodes(flow, root, ofFlow)
  for (const { item, location } of components) {
    const { renamed } = tools.take(item, location)
    settleNodes(item, location, new Map([...ofFlow, ...renamed]))
  }
  tools.normaliseNames()
  return { flow, tools: tools.all }

  function settleNodes(owner: JsonObject, at: SourceLocation, toolIds: ReadonlyMap<string, string>): void {
    const nodes = objectsIn(owner, 'nodes', at, findings)
    const nodeIds = assignIds(nodes, NODE, findings)
    rename(owner, 'start_node_id', nodeIds)
    for (const { item, location } of nodes) {
      if (nodeTypeNamed(item.type)?.definesTools === true) moveTools(item, location, toolIds, tools)
      rename(item, 'tool_id', toolIds)
      rename(item, 'component_id', componentIds)
      settleEdges(item, location, nodeIds, findings)
    }
  }
}

function settleEdges(
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

/** In a node type that does not run yet only the slots of its schema hold edges. */
function isReadAsEdge(option: ReturnType<typeof optionFor>, name: string): boolean {
  const { shape, catchall } = option?._zod.def ?? {}
  return shape !== undefined && (!isOpen(catchall) || Object.hasOwn(shape, name))
}

/** Tools defined inside a node become actions of the agent, which the node names in `tool_ids`. */
function moveTools(
  node: JsonObject,
  location: SourceLocation,
  outer: ReadonlyMap<string, string>,
  tools: ToolCollector,
): void {
  const { renamed, ids } = tools.take(node, location)
  const own: Json[] = Array.isArray(node.tool_ids) ? node.tool_ids : []
  const now = own.map(id => (typeof id === 'string' ? (renamed.get(id) ?? outer.get(id) ?? id) : id))
  const named = new Set(now)
  const added = new Set(ids.filter(id => !named.has(id)))
  if (now.length + added.size > 0) node.tool_ids = [...now, ...added]
}

function rename(owner: JsonObject, name: string, ids: ReadonlyMap<string, string>): void {
  const now = ids.get(scalar(owner[name]))
  if (now !== undefined) owner[name] = now
}
