import { exportFile, importFile, importOf, secrets } from '../fixtures/exports.ts'
import { type ImportResult, importExport } from '../import-export.ts'
import type { JsonObject } from '../json.ts'

/** The export that has everything, and what becomes of it. */
export const full = exportFile('full-export')
export const body = importOf(full)
const { draft, warnings } = importFile('full-export')

export { draft }
export const unplaced = draft.source!.unplaced
export const nodeOf = (id: string) => draft.flow.nodes.find(node => node.id === id)
export const actionOf = (id: string) => draft.actions.find(action => action.action_id === id)
export const warned = (path: string) => warnings.filter(warning => warning.path === path).map(({ code }) => code)
export const refusal = (result: ImportResult) => (result.ok ? null : result.refusal)
/** The minimal export with one node more, and nothing that leads to it. */
export const withNode = (node: JsonObject) => {
  const { agent, flow } = exportFile('minimal-export')
  return importExport(importOf({ agent, flow: { ...flow, nodes: [...(flow.nodes as JsonObject[]), node] } }), secrets)
}
