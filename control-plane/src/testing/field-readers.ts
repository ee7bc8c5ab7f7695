/** Fields of one schema, the file or folder whose code reads them, and the tests that show it. */
export type FieldReader = readonly [schema: string, fields: string, code: string, tests: string]

const FLOW = 'packages/flow/src/interpreter packages/nodes/src'
const NODES = 'packages/nodes/src'
const PLAN = 'packages/flow/src/plan'
const EDITS = 'packages/flow/src/draft'
/** Checks of nodes and actions are tested where drafts are validated, or beside the node type. */
const CHECKS = 'packages/flow/src/draft packages/nodes/src'
const VOICE = 'packages/engine/src/voice'
const SPOKEN = 'packages/providers/src/spoken-text'
const ACTIONS = 'packages/conversation/src/actions'
const HANDLERS = 'control-plane/src/handlers'
const STORE = 'packages/store/src'
const SERVICES = 'packages/cli/src/services.ts'

/**
 * The code that reads each field that a request may set. A schema is an operation, a named schema of the contract, or a member of
 * either that has no name; the branch of a union is named by its discriminator, and `*` means all of them.
 */
export const FIELD_READERS: readonly FieldReader[] = [
  // Settings of an agent.
  ['Settings', 'voiceId voiceModel fallbackVoiceIds', SERVICES, 'packages/cli/src/services.test.ts'],
  ['Settings', 'volume boostedKeywords', VOICE, VOICE],
  [
    'Settings',
    'normalizeForSpeech pronunciationDictionary voiceTemperature sttMode vocabSpecialization',
    `${VOICE}/voice-agent.ts`,
    `${VOICE}/agent-settings.test.ts`,
  ],
  ['Settings', 'ambientSound ambientSoundVolume', VOICE, `${VOICE}/agent-settings.test.ts`],
  ['Settings.pronunciationDictionary', 'word alphabet phoneme', SPOKEN, SPOKEN],
  ['Settings', 'toolCallStrictMode', 'packages/conversation/src', 'packages/conversation/src'],
  [
    'Settings',
    'redaction',
    'packages/engine/src/runs packages/jobs/src/text',
    'packages/runs/src packages/conversation/src',
  ],
  ['Settings.redaction', 'kinds hideFromModel', 'packages/conversation/src', 'packages/conversation/src'],
  ['Settings', 'language', `${PLAN}/languages.ts`, EDITS],
  [
    'Settings',
    'responsiveness interruptionSensitivity openerWaitsForCallee reminderTriggerMs reminderMaxCount maxCallDurationMs endCallAfterSilenceMs allowDtmfInterruption beginMessageDelayMs backchannelFrequency enableBackchannel backchannelWords',
    `${VOICE}/dialogue-options.ts`,
    'packages/dialogue/src packages/engine/src',
  ],
  ['Settings', 'voiceSpeed allowUserDtmf userDtmfOptions', FLOW, `${FLOW} packages/conversation/src ${HANDLERS}`],
  ['Settings.userDtmfOptions', 'digitLimit terminationKey timeoutMs', FLOW, `${FLOW} packages/dialogue/src`],
  ['Settings', 'channels timezone', FLOW, `${FLOW} packages/conversation/src`],
  ['Settings', 'modelTemperature', 'packages/conversation/src', 'packages/conversation/src'],
  ['Settings', 'silenceContractMs holdingLines', VOICE, VOICE],
  ['Settings', 'voicemail ivr callScreening', VOICE, VOICE],
  ['Settings.voicemail', 'enabled action message detectionTimeoutMs', VOICE, `${VOICE} packages/dialogue/src`],
  ['Settings.ivr', 'enabled action', VOICE, VOICE],
  ['Settings.callScreening', 'enabled identity purpose', VOICE, VOICE],
  ['Settings', 'callMemory', 'packages/engine/src/runs', 'packages/engine/src/runs'],
  [
    'Settings.callMemory',
    'enabled maxAgeDays',
    'packages/engine/src/runs',
    'packages/engine/src/runs packages/store/src/runs',
  ],
  ['Settings', 'releaseGate', 'packages/store/src/release/gates.ts', `${HANDLERS}/release-gate.test.ts`],
  ['publications.*', 'override', `${HANDLERS}/publications.ts`, `${HANDLERS}/release-gate.test.ts`],
  ['publications.*.override', 'reason', `${HANDLERS}/release-gate.ts`, `${HANDLERS}/release-gate.test.ts`],
  ['Settings.releaseGate', 'suites', `${HANDLERS}/release-gate.ts`, `${HANDLERS}/release-gate.test.ts`],
  [
    'Settings.releaseGate',
    'maximumFalsePass maximumFalseBlock minimumEffect',
    'packages/evaluation/src/gate/sequential-test.ts',
    'packages/evaluation/src/gate/gate.test.ts',
  ],
  [
    'Settings.releaseGate',
    'maximumTrials maximumUsd',
    'packages/evaluation/src/gate/gate-outcome.ts packages/jobs/src/release',
    'packages/jobs/src/release/release-gate.test.ts',
  ],
  ['Settings', 'ringDurationMs', 'packages/engine/src/runs', 'packages/engine/src/runs'],

  // Services of an agent.
  ['Providers', 'stt llm tts', SERVICES, 'packages/cli/src/services.test.ts'],
  ['SpeechProvider', 'provider model voiceId', SERVICES, `packages/cli/src/services.test.ts ${EDITS}`],
  ['RecogniserProvider', 'provider model fallbacks', SERVICES, `packages/cli/src/services.test.ts ${EDITS}`],
  ['RecogniserIdentity', 'provider model', SERVICES, `packages/cli/src/services.test.ts ${EDITS}`],
  ['LanguageModelProvider', 'model fallbacks', SERVICES, 'packages/cli/src/services.test.ts'],
  ['LanguageModelProvider', 'provider', `${EDITS}/check-models.ts`, EDITS],
  ['ModelIdentity', 'model_id provider tier', `${EDITS}/check-models.ts`, EDITS],
  ['ModelRef', 'model', SERVICES, 'packages/cli/src/services.test.ts'],
  ['SecretRef', 'id version', `${EDITS}/check-secrets.ts`, EDITS],

  // The other parts of an agent.
  ['Telephony', 'trunkId from', `${PLAN}/check-telephony.ts`, `${EDITS} ${HANDLERS}`],
  ['AgentRecording', 'required', 'packages/engine/src/runs', 'packages/engine/src'],
  // Its only value is "dual", and every recording has two channels.
  ['AgentRecording', 'channels', `${PLAN}/draft.ts`, 'interop/demo.test.ts'],
  ['AgentRecording', 'signed_urls', 'control-plane/src/recordings', 'control-plane/src/http/recordings.test.ts'],
  ['Notification', 'url secret events', 'packages/jobs/src/webhooks', 'packages/jobs/src/webhooks'],
  ['InboundContext', 'action_id variables', 'packages/engine/src/runs', 'packages/engine/src/runs'],
  [
    'AgentKnowledge',
    'document_ids top_k min_score',
    'packages/conversation/src/knowledge',
    'packages/conversation/src',
  ],
  ['Node[*]', 'knowledge_base_ids', 'packages/conversation/src/knowledge', 'packages/conversation/src'],
  ['Analysis', 'items model', 'packages/jobs/src/analysis', 'packages/jobs/src/analysis'],
  ['AnalysisItem[system-presets]', 'type name', 'packages/jobs/src/analysis', 'packages/jobs/src/analysis'],
  [
    'VariableItem[*]',
    'type name description required choices',
    'packages/conversation/src/model/inference-schema.ts',
    'packages/conversation/src',
  ],
  ['VariableItem[*]', 'examples', 'packages/jobs/src/analysis', 'packages/jobs/src/analysis'],

  // Actions.
  ['Action[*]', 'action_id name kind', ACTIONS, 'packages/conversation/src'],
  ['Action[*]', 'description channels', FLOW, 'packages/flow/src packages/conversation/src'],
  ['Action[*]', 'version', `${EDITS}/edit-actions.ts`, EDITS],
  ['Action[http]', 'method url headers query body_format args_at_root auth idempotency timeout_ms', ACTIONS, ACTIONS],
  [
    'Action[http]',
    'parameters response_variables speak_after_execution',
    FLOW,
    'packages/flow/src packages/conversation/src',
  ],
  ['Action[http]', 'reversible', 'packages/conversation/src', 'packages/conversation/src'],
  ['ActionAuthentication', 'scheme secret header', ACTIONS, ACTIONS],
  ['Action[end_call]', 'instruction speak_during_execution', FLOW, 'packages/flow/src packages/conversation/src'],
  ['Action[press_digit]', 'delay_ms', FLOW, FLOW],
  ['Action[extract_dynamic_variables]', 'variables', FLOW, 'packages/flow/src packages/conversation/src'],
  ['*[transfer_call]', 'transfer_destination custom_sip_headers', FLOW, FLOW],
  ['*[transfer_call]', 'transfer_option', NODES, CHECKS],
  ['*[transfer_call].transfer_option[*]', 'type', NODES, CHECKS],
  ['*[transfer_call].transfer_option[cold_transfer]', 'cold_transfer_mode show_transferee_as_caller', NODES, CHECKS],
  ['TransferDestination[*]', 'type number prompt', FLOW, FLOW],
  ['TransferDestination[predefined]', 'extension', NODES, CHECKS],

  // The flow.
  ['Component', 'component_id start_node_id nodes', FLOW, FLOW],
  ['Component', 'name', 'packages/flow/src/exchange', 'packages/flow/src/exchange'],
  ['Instruction', 'type text', FLOW, FLOW],
  ['Edge', 'id transition_condition destination_node_id', FLOW, FLOW],
  ['TransitionCondition[*]', 'type prompt operator equations', FLOW, FLOW],
  ['Equation', 'left operator right', FLOW, FLOW],
  ['GlobalNodeSetting', 'condition cool_down go_back_conditions', FLOW, FLOW],
  ['GlobalNodeSetting.go_back_conditions', 'id transition_condition', FLOW, FLOW],
  // Always null: a way back leads to where the caller was.
  ['GlobalNodeSetting.go_back_conditions', 'destination_node_id', FLOW, FLOW],
  ['Node[*]', 'id name type global_node_setting model_choice', FLOW, 'packages/flow/src'],
  ['Node[*]', 'edges else_edge', FLOW, FLOW],
  [
    'Node[*]',
    'instruction always_edge skip_response_edge interruption_sensitivity responsiveness voice_speed reminder_trigger_ms reminder_max_count allow_dtmf_interruption user_dtmf_options',
    FLOW,
    'packages/flow/src packages/engine/src',
  ],
  ['NodeDtmfOptions', 'digit_limit termination_key timeout_ms', FLOW, FLOW],
  ['Node[*]', 'holding_line', FLOW, `${FLOW} packages/engine/src/voice`],
  ['Node[*]', 'tool_ids finetune_conversation_examples finetune_transition_examples', FLOW, FLOW],
  ['GlobalNodeSetting', 'positive_finetune_examples negative_finetune_examples', FLOW, FLOW],
  ['Action[*]', 'speak_during_execution execution_message_description execution_message_type', FLOW, FLOW],
  ['Node[function]', 'tool_id wait_for_result speak_during_execution', FLOW, FLOW],
  ['Node[*]', 'wait_for_result speak_during_execution response_variables', FLOW, FLOW],
  ['*[code]', 'code timeout_ms', 'packages/conversation/src', 'packages/conversation/src packages/nodes/src'],
  ['*[mcp]', 'mcp_id mcp_tool_name timeout_ms', 'packages/conversation/src', 'packages/conversation/src'],
  ['*[mcp]', 'parameters', NODES, FLOW],
  ['Action[*]', 'response_variables speak_after_execution', FLOW, 'packages/flow/src packages/conversation/src'],
  ['Action[send_sms]', 'sms_content', NODES, 'packages/conversation/src packages/nodes/src'],
  ['Settings', 'sms', 'packages/conversation/src', 'packages/conversation/src'],
  ['Settings.sms', 'provider from account url secret', ACTIONS, ACTIONS],
  ['Node[extract_dynamic_variables]', 'variables', FLOW, FLOW],
  ['Node[press_digit]', 'delay_ms', FLOW, FLOW],
  ['Node[transfer_call]', 'edge speak_during_execution', FLOW, FLOW],
  ['Node[end]', 'speak_during_execution', FLOW, FLOW],
  ['Node[component]', 'component_id', FLOW, FLOW],
  ['Node[component]', 'component_type', NODES, CHECKS],
  ['*[agent_swap]', 'agent_id agent_version keep_current_voice keep_current_language', NODES, NODES],
  ['Node[agent_swap]', 'edge instruction speak_during_execution', FLOW, FLOW],
  ['Node[sms]', 'success_edge failed_edge', NODES, CHECKS],

  // Edits of a draft.
  ['DraftEdit[*]', 'type', EDITS, EDITS],
  [
    'DraftEdit[*]',
    'name values clear value role changes notification action action_id text instruction node component_id node_id slot edge index edge_id start_speaker begin_after_user_silence_ms component',
    EDITS,
    EDITS,
  ],
  ['DraftEdit[*].changes', 'provider model credential endpoint voiceId fallbacks', EDITS, EDITS],

  // Import and export.
  ['agents.import', 'reference config replace_draft', `${HANDLERS}/exchange.ts`, `${HANDLERS}/exchange.test.ts`],
  ['agents.import.reference', 'tenant_id kind id', 'control-plane/src packages/contract/src', 'control-plane/src'],
  [
    'agents.import.replace_draft',
    'draft_id expected_revision',
    `${HANDLERS}/exchange.ts`,
    `${HANDLERS}/exchange.test.ts`,
  ],
  [
    'agents.import*',
    'agent_version flow agent config model_bindings',
    'packages/flow/src/exchange',
    'packages/flow/src/exchange',
  ],
  [
    'ImportConfig',
    'providers telephony recording webhook',
    'packages/flow/src/exchange',
    'packages/flow/src/exchange control-plane/src',
  ],
  [
    'ImportConfig.recording',
    'required channels',
    'packages/flow/src packages/engine/src/runs',
    'packages/flow/src control-plane/src',
  ],
  ['ImportConfig.webhook', 'url secretRef', 'packages/flow/src/exchange', 'packages/flow/src/exchange'],
  ['agents.export', 'version draft include_webhook', `${HANDLERS}/exchange.ts`, `${HANDLERS}/exchange.test.ts`],

  // Agents, drafts and publications.
  ['agents.list', 'q channel sort', `${STORE}/agents.ts`, `${HANDLERS}/agents.test.ts`],
  ['agents.create', 'template name agent_id language', HANDLERS, HANDLERS],
  ['agents.clone', 'name agent_id version', HANDLERS, `${HANDLERS}/agents.test.ts`],
  ['drafts.*', 'draft_id expected_revision edits version', HANDLERS, `${HANDLERS}/drafts.test.ts`],
  [
    'publications.*',
    'draft_id expected_revision test version expected_version',
    HANDLERS,
    `${HANDLERS}/publications.test.ts`,
  ],

  // Runs and usage.
  [
    'runs.list',
    'agent_id channel state after before disposition contact successful version test test_run_id',
    `${STORE}/runs/runs.ts`,
    `${HANDLERS} ${STORE}/runs`,
  ],
  [
    'runs.replay',
    'agent_id version draft after_change',
    HANDLERS,
    `${HANDLERS}/replay.test.ts packages/evaluation/src`,
  ],
  [
    'runs.create',
    'agent_id version channel mode web_kind to from dynamic_variables metadata',
    HANDLERS,
    `${HANDLERS}/runs-create.test.ts`,
  ],
  ['runs.update', 'override_dynamic_variables metadata', `${STORE}/runs/updates.ts`, `${HANDLERS}/runs.test.ts`],
  ['runs.listen', 'offer', `${HANDLERS}/listeners.ts`, `${HANDLERS}/listeners.test.ts`],
  ['runs.message', 'text', `${HANDLERS}/runs-message.ts`, 'control-plane/src'],
  ['usage.summary', 'group_by from to agent_id purpose contact', HANDLERS, 'control-plane/src'],
  ['budgets.update', 'cap_usd expected_policy_id', `${HANDLERS} ${STORE}/runs`, 'control-plane/src'],
  ['alerts.*', 'rule expected_revision delivery_id', `${HANDLERS}/alerts.ts`, `${HANDLERS}/alerts.test.ts`],
  [
    'alerts.*.rule',
    'metric threshold enabled destination',
    `${STORE}/alerts ${HANDLERS}/alerts.ts packages/jobs/src/alerts`,
    `${HANDLERS}/alerts.test.ts packages/jobs/src/alerts`,
  ],
  ['alerts.update.rule.destination', 'action value', `${HANDLERS}/alerts.ts`, `${HANDLERS}/alerts.test.ts`],
  [
    'alert_destinations.update.*',
    'expected_revision webhook_url routing_key',
    `${HANDLERS}/alerts.ts`,
    `${HANDLERS}/alerts.test.ts`,
  ],
  ['AlertDestinationValue[*]', 'kind url', `${STORE}/alerts ${HANDLERS}/alerts.ts`, `${HANDLERS}/alerts.test.ts`],
  ['alert_destinations.update', 'chat paging', `${HANDLERS}/alerts.ts`, `${HANDLERS}/alerts.test.ts`],

  // The workspace.
  ['keys.create', 'name role can_dial expires_at', `${HANDLERS}/keys.ts`, `${HANDLERS}/keys.test.ts`],
  ['keys.rotate', 'overlap_seconds', `${HANDLERS}/keys.ts`, `${HANDLERS}/keys.test.ts`],
  [
    'site_keys.create',
    'name agent_id origins concurrent_limit daily_limit',
    `${HANDLERS}/site-keys.ts ${STORE}/web`,
    `${HANDLERS}/site-keys.test.ts`,
  ],
  ['secrets.put', 'kind value', `${HANDLERS}/secrets.ts`, `${HANDLERS}/secrets.test.ts`],
  ['secrets.delete', 'force', `${HANDLERS}/secrets.ts`, `${HANDLERS}/secrets.test.ts`],
  ['provider_keys.put', 'key endpoint', `${HANDLERS}/provider-keys.ts`, `${HANDLERS}/provider-keys.test.ts`],
  ['team.invite', 'email role', `${HANDLERS}/team.ts`, `${HANDLERS}/team.test.ts`],
  ['team.set_role', 'role', `${HANDLERS}/team.ts`, `${HANDLERS}/team.test.ts`],
  [
    'tenant_settings.update',
    'display_name listening_enabled retention',
    `${HANDLERS}/tenant-settings.ts`,
    `${HANDLERS}/tenant-settings.test.ts`,
  ],
  [
    'tenant_settings.update.retention',
    'expected_version',
    `${STORE}/tenant-settings.ts`,
    `${HANDLERS}/tenant-settings.test.ts`,
  ],
  ['tenant_settings.update.retention', 'recording_days transcript_days', `${STORE}/migrations`, STORE],
  ['tenant_settings.update.retention', 'document_days', `${STORE}/knowledge`, `${HANDLERS}/knowledge.test.ts`],
  ['audit.list', 'after before', `${HANDLERS}/audit.ts`, `${HANDLERS}/audit.test.ts`],
  ['actions.list', 'channel invocation', `${HANDLERS}/catalogue.ts`, `${HANDLERS}/catalogue.test.ts`],
  ['models.list', 'kind ready', `${HANDLERS}/catalogue.ts`, `${HANDLERS}/catalogue.test.ts`],
  ['voices.list', 'role provider language', HANDLERS, `${HANDLERS}/catalogue.test.ts`],
  [
    'voices.preview',
    'voice_id model language speed expressiveness',
    `${HANDLERS}/voice-preview.ts packages/cli/src/voice-preview.ts`,
    `${HANDLERS}/voice-preview.test.ts packages/cli/src/voice-preview.test.ts`,
  ],

  // Telephony.
  [
    'trunks.*',
    'trunk_id name termination_uri auth_username auth_secret inbound',
    `${HANDLERS}/trunks.ts`,
    `${HANDLERS}/trunks.test.ts`,
  ],
  ['TrunkSecretRef', 'id version', `${HANDLERS}/trunks.ts`, `${HANDLERS}/trunks.test.ts`],
  ['numbers.*', 'trunk_id agent_id phone_number name version', `${HANDLERS}/numbers.ts`, `${HANDLERS}/numbers.test.ts`],
  ['call_limits.update', 'daily_limit', `${HANDLERS}/call-limit.ts`, `${HANDLERS}/call-limit.test.ts`],

  // Test suites.
  [
    'test_suites.*',
    'name agent_id cases source expected_revision edits',
    `${HANDLERS}/test-suites.ts ${HANDLERS}/suite-edits.ts`,
    `${HANDLERS}/test-suites.test.ts control-plane/src/tools/tool-choice.test.ts`,
  ],
  [
    'SuiteEdit*',
    'op name case case_id case_ids source',
    `${HANDLERS}/suite-edits.ts`,
    `${HANDLERS}/test-suites.test.ts`,
  ],

  // Documents.
  ['knowledge.configure', 'model_identity', `${HANDLERS}/knowledge.ts`, `${HANDLERS}/knowledge.test.ts`],
  [
    'knowledge.documents_create',
    'title text content_base64 media_type source_url',
    `${HANDLERS}/knowledge.ts`,
    `${HANDLERS}/knowledge.test.ts`,
  ],
  [
    'knowledge.search',
    'query top_k min_score document_ids',
    `${HANDLERS}/knowledge.ts`,
    `${HANDLERS}/knowledge.test.ts`,
  ],
  [
    'TestCase*',
    'case_id mode language caller dynamic_variables mocks max_turns timeout_ms trials pass_policy blocking assertions kind steps says plays text presses hangs_up silence_ms expect lands hears hung_up goal brief facts behavior verbosity patience pauses action_id when respond status body delay_ms error outcome times',
    'packages/evaluation/src packages/jobs/src/trials',
    'packages/evaluation/src packages/jobs/src/trials',
  ],
  // Lists of cases show both.
  [
    'TestCase',
    'name tags',
    'packages/contract/src/test-suites packages/jobs/src/trials',
    'packages/contract/src/test-suites',
  ],
  [
    'Assertion*',
    'id type node_ids match by_turn order step action_id times arguments role contains regex name op value kinds values percentile criterion',
    'packages/evaluation/src',
    'packages/evaluation/src',
  ],
  ['JsonCondition', 'path op value', 'packages/evaluation/src', 'packages/evaluation/src'],
  [
    'SuiteSource*',
    'kind window_days versions contact dispositions min_caller_turns sample limit run_ids',
    `${STORE}/tests`,
    `${STORE}/tests packages/jobs/src/trials`,
  ],
  [
    'test_runs.*',
    'agent_id version suite_ids case_ids trials baseline_test_run_id suite_id purpose state',
    `${HANDLERS} ${STORE}/tests`,
    `${HANDLERS}/test-runs.test.ts`,
  ],

  // Pages of lists.
  ['*', 'cursor limit', 'control-plane/src/handlers control-plane/src/pipeline', 'control-plane/src'],
]
