import { component } from '@parley/contract'
import { instruction, type Json, node, nodeTypeNamed } from '@parley/nodes'
import type { z } from 'zod'
import type { ImportFindings } from './import-findings.ts'
import { given, isObject, type JsonObject, shown } from './json.ts'
import { boundModel, type ModelBindings } from './models.ts'
import { isOpen, optionFor, readFields, readObject, reason } from './read-value.ts'
import type { SourceLocation } from './source-location.ts'
import { warnOfUnsupported } from './tools.ts'

/** Reads the nodes of a flow or a component. An item that is no node of a draft is stored as unplaced. */
export function readNodes(
  list: Json | undefined,
  location: SourceLocation,
  bindings: ModelBindings,
  findings: ImportFindings,
): JsonObject[] {
  if (list === undefined) return []
  if (!Array.isArray(list)) {
    findings.leave(location, list, '`nodes` is not a list: it is left out')
    return []
  }
  return list.flatMap((item, index) => {
    const read = isObject(item) ? readNode(item, location.item(index, String(item.id)), bindings, findings) : undefined
    return read === undefined ? [] : [read]
  })
}

function readNode(
  source: JsonObject,
  location: SourceLocation,
  bindings: ModelBindings,
  findings: ImportFindings,
): JsonObject | undefined {
  const option = optionFor(node, source)
  const nodeType = nodeTypeNamed(source.type)
  if (option === undefined || nodeType === undefined) {
    const type = shown(typeof source.type === 'string' ? source.type : 'no type')
    const message = `Drafts have no nodes of type \`${type}\`: \`${shown(location.name)}\` is left out`
    findings.leave(location, source, message, 'unsupported_capability')
    return undefined
  }
  const { model_choice: choice, ...rest } = source
  const read = findings.attempt(() => {
    const fields = readObject(option, tidyNode(rest, option._zod.def, location, findings), location, findings)
    if (fields === undefined) return undefined
    const model = boundModel(choice, location.in('model_choice'), bindings, findings)
    return model === null ? fields : { ...fields, model_choice: { ...model } as Json }
  })
  if (read === undefined) {
    findings.leave(location, source, `The node \`${shown(location.name)}\` is left out: ${reason(option, rest)}`)
    return undefined
  }
  findings.place(location)
  warnOfUnsupported(nodeType, read, location, findings)
  if (given(read, 'knowledge_base_ids') !== undefined)
    findings.warn(
      'field_ignored',
      location.in('knowledge_base_ids'),
      'Knowledge bases are not imported: attach documents to the agent instead',
    )
  return read
}

/** A node in the format's current form, which unfinished and older exports deviate from. */
function tidyNode(
  source: JsonObject,
  { shape, catchall }: z.core.$ZodObjectDef,
  location: SourceLocation,
  findings: ImportFindings,
): JsonObject {
  const imported = nodeTypeNamed(source.type)?.importNode?.(source)
  for (const { code, field, message } of imported?.warnings ?? []) findings.warn(code, location.in(field), message)
  const tidy = { ...(imported?.node ?? source) }
  if (shape.instruction === instruction && given(source, 'instruction') === undefined)
    tidy.instruction = { type: 'prompt', text: '' }
  const always = given(source, 'always_edge')
  const hasElse = Object.hasOwn(shape, 'else_edge') && !Object.hasOwn(shape, 'always_edge') && !isOpen(catchall)
  if (hasElse && isObject(always) && given(source, 'else_edge') === undefined) {
    delete tidy.always_edge
    tidy.else_edge = always
    const message = 'A node that does not converse has no `always_edge`: it is imported as `else_edge`'
    findings.warn('field_ignored', location.in('always_edge'), message)
  }
  return tidy
}

/** Reads the components. Their tools were collected before, by `normaliseIds`. */
export function readComponents(
  list: Json | undefined,
  location: SourceLocation,
  bindings: ModelBindings,
  findings: ImportFindings,
): JsonObject[] {
  if (list === undefined) return []
  if (!Array.isArray(list)) {
    findings.leave(location, list, '`components` is not a list: it is left out')
    return []
  }
  return list.flatMap((item, index) => {
    if (!isObject(item)) return []
    const at = location.item(index, String(item.component_id))
    const { nodes: _, ...shape } = component.shape
    const { nodes, ...others } = item
    const fields = readFields(shape, others, at, findings)
    for (const [name, value] of Object.entries(others))
      if (!Object.hasOwn(shape, name)) findings.leave(at.in(name), value)
    return [{ ...fields, nodes: readNodes(nodes ?? undefined, at.in('nodes'), bindings, findings) }]
  })
}
