import { action, actionId, edge, edgeId, instruction, node, nodeId, slot, text, variableName } from '@parley/nodes'
import { z } from 'zod'
import { type JsonSchema, jsonSchema } from '../derived/json-schema.ts'
import { agentKnowledge, analysis, inboundContext, notification, recording, telephony } from './draft-parts.ts'
import { beginAfterUserSilenceMs, component, globalPrompt, startSpeaker, variableDefaults } from './flow.ts'
import { languageModelChanges, recogniserProviderChanges, speechProviderChanges } from './providers.ts'
import { SETTING_COUNT, settingName, settingValues } from './settings.ts'

/** A component, or null for the main flow. */
const componentId = nodeId.nullable()
const inFlow = { component_id: componentId }
const atNode = { component_id: componentId, node_id: nodeId }

/** A name cannot be set and cleared by one edit. */
function setsOrClears(edit: { values: object; clear: readonly string[] }): boolean {
  return !edit.clear.some(name => Object.hasOwn(edit.values, name))
}
const SET_AND_CLEARED = { message: 'a name is in both values and clear; keep it in one of them', path: ['clear'] }

const agentEdits = [
  z.strictObject({ type: z.literal('agent.name'), name: text(1, 256) }),
  z
    .strictObject({
      type: z.literal('agent.settings'),
      values: settingValues.default({}),
      /** Settings to reset to their default. */
      clear: z.array(settingName).max(SETTING_COUNT).default([]),
    })
    .refine(setsOrClears, SET_AND_CLEARED),
  z.strictObject({ type: z.literal('agent.telephony'), value: telephony.nullable() }),
  z.discriminatedUnion('role', [
    z.strictObject({ type: z.literal('agent.provider'), role: z.literal('stt'), changes: recogniserProviderChanges }),
    z.strictObject({ type: z.literal('agent.provider'), role: z.literal('tts'), changes: speechProviderChanges }),
    z.strictObject({ type: z.literal('agent.provider'), role: z.literal('llm'), changes: languageModelChanges }),
  ]),
  z.strictObject({ type: z.literal('agent.knowledge'), value: agentKnowledge.nullable() }),
  z.strictObject({ type: z.literal('agent.analysis'), value: analysis.nullable() }),
  z.strictObject({ type: z.literal('agent.recording'), value: recording }),
  z.strictObject({ type: z.literal('notification.put'), notification }),
  z.strictObject({ type: z.literal('notification.remove') }),
  z.strictObject({ type: z.literal('action.put'), action }),
  z.strictObject({ type: z.literal('action.remove'), action_id: actionId }),
  z.strictObject({ type: z.literal('phone.inbound_context'), value: inboundContext.nullable() }),
] as const

const flowEdits = [
  z.strictObject({ type: z.literal('flow.prompt'), text: globalPrompt }),
  z.strictObject({ type: z.literal('node.instruction'), ...atNode, instruction }),
  z.strictObject({ type: z.literal('flow.node.put'), ...inFlow, node }),
  z.strictObject({ type: z.literal('flow.node.remove'), ...atNode }),
  z.strictObject({
    type: z.literal('flow.edge.put'),
    ...atNode,
    slot: slot.default('edges'),
    edge,
    /** Position of a new edge in `edges`; default: the end. */
    index: z.int().min(0).max(100).optional(),
  }),
  z.strictObject({ type: z.literal('flow.edge.remove'), ...atNode, edge_id: edgeId }),
  z
    .strictObject({
      type: z.literal('flow.start'),
      ...inFlow,
      node_id: nodeId.nullable(),
      start_speaker: startSpeaker.optional(),
      begin_after_user_silence_ms: beginAfterUserSilenceMs.optional(),
    })
    .refine(
      edit =>
        edit.component_id === null ||
        (edit.start_speaker === undefined && edit.begin_after_user_silence_ms === undefined),
      'start_speaker and begin_after_user_silence_ms apply to the main flow only: leave them out or set component_id to null',
    ),
  z.strictObject({ type: z.literal('flow.component.put'), component }),
  z.strictObject({ type: z.literal('flow.component.remove'), component_id: nodeId }),
  z
    .strictObject({
      type: z.literal('flow.variables'),
      values: variableDefaults.default({}),
      clear: z.array(variableName).max(1000).default([]),
    })
    .refine(setsOrClears, SET_AND_CLEARED),
] as const

/** One typed change to a draft. */
export const draftEdit = z.discriminatedUnion('type', [...agentEdits, ...flowEdits]).meta({ id: 'DraftEdit' })

/** The literal of an edit's `type`; the two forms of agent.provider share one. */
function typeOf(option: (typeof draftEdit.options)[number]): string {
  const form = 'options' in option ? option.options[0] : option
  return form.shape.type.value
}

type EditType = z.output<typeof draftEdit>['type']

const TYPES = Object.fromEntries(draftEdit.options.map(option => [typeOf(option), typeOf(option)]))

/** The type of an edit, by which `editSchema` finds its schema. */
export const editType = z.enum(TYPES as { readonly [Type in EditType]: Type }).meta({ id: 'DraftEditType' })

/** The JSON Schema of the edits of one type. */
export function editSchema(type: EditType): JsonSchema {
  return jsonSchema(draftEdit.options.find(option => typeOf(option) === type)!, 'input')
}

/** The edits of one request or one fix: applied in order, all or none. */
export const draftEdits = z.array(draftEdit).min(1).max(100)

export type DraftEdit = z.output<typeof draftEdit>
