import { identifier } from '@parley/contract'
import { canonicalJson } from '@parley/kernel'
import type { ImportFindings } from './import-findings.ts'
import { type JsonObject, shown } from './json.ts'
import { assignIds, type IdRule, Names, objectsIn, scalar } from './names.ts'
import { SourceLocation } from './source-location.ts'

/** A tool with its location in the export. The location's key is that of a tool of the flow, wherever the tool was defined. */
export interface FoundTool {
  readonly tool: JsonObject
  readonly location: SourceLocation
}

const TOOL: IdRule = {
  field: 'tool_id',
  legal: identifier(128),
  stem: (item, id) =>
    (id || scalar(item.name) || scalar(item.type)).replace(/[^A-Za-z0-9_.:-]/g, '_').replace(/^[^A-Za-z0-9]+/, ''),
  fallback: 'tool',
  maxLength: 128,
}

const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

/** Collects all tools of an export and gives each a unique id and name. */
export class ToolCollector {
  readonly all: FoundTool[] = []
  readonly #findings: ImportFindings
  readonly #ids = new Names()
  /** Canonical JSON of each tool. */
  readonly #seen = new Set<string>()

  constructor(findings: ImportFindings) {
    this.#findings = findings
  }

  /** Takes the list `tools` out of `owner`. Returns the ids of its tools, and the new ids by the old ones. */
  take(owner: JsonObject, location: SourceLocation): { ids: string[]; renamed: Map<string, string> } {
    const found = objectsIn(owner, 'tools', location, this.#findings)
    if (owner.tools !== undefined && owner.tools !== null && !Array.isArray(owner.tools))
      this.#findings.warn('field_ignored', location.in('tools'), '`tools` is not a list: it is dropped')
    delete owner.tools
    // Exports repeat a flow's tools in its components: equal tools are imported once.
    const fresh = found.filter(({ item }) => !this.#seen.has(canonicalJson(item)))
    const renamed = assignIds(fresh, TOOL, this.#findings, this.#ids)
    for (const { item, location: at } of fresh) {
      this.#seen.add(canonicalJson(item))
      this.all.push({ tool: item, location: new SourceLocation(at.at, ['flow', 'tools', scalar(item.tool_id)]) })
    }
    return { ids: found.map(({ item }) => scalar(item.tool_id)), renamed }
  }

  /** Gives each tool a unique name of the form that models accept. */
  normaliseNames(): void {
    const names = new Names()
    const rest = this.all.filter(({ tool }) => {
      const name = scalar(tool.name)
      return !(NAME.test(name) && names.take(name))
    })
    for (const { tool, location } of rest) {
      const original = scalar(tool.name)
      tool.name = names.invent(toolName(original || scalar(tool.tool_id)), 64)
      if (original !== '')
        this.#findings.warn(
          'id_renamed',
          location.in('name'),
          `The name \`${shown(original)}\` is invalid or taken, so the tool is now called \`${tool.name}\``,
        )
    }
  }
}

function toolName(name: string): string {
  const legal = name.replace(/[^A-Za-z0-9_-]/g, '_')
  return /^[A-Za-z_]/.test(legal) ? legal : `_${legal}`
}
