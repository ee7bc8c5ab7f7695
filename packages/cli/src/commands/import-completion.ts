import type { ParleyClient, RequestTo, ResultFrom } from '@parley/client'
import { firstProviders } from '@parley/control-plane'
import { printable } from './agents-text.ts'
import type { ExportOnDisk } from './import-file.ts'

type ImportBody = Omit<RequestTo<'agents.import'>['body'], 'reference' | 'replace_draft'>
type Bindings = ImportBody['model_bindings']
type Model = ResultFrom<'models.list'>['items'][number]

/** What the command line says about an import. */
export interface ImportChoices {
  /** The model of every path without a binding; null: the agent's. */
  readonly model: string | null
  readonly bindings: readonly { readonly path: string; readonly model: string }[]
  /** Secret that signs the file's webhook; null: the webhook is left out. */
  readonly webhookSecret: string | null
}

interface CompleteImport {
  readonly body: ImportBody
  /** What the file holds; null: it was complete, and nothing was inspected. */
  readonly inspection: ResultFrom<'agents.import_inspect'> | null
  /** What was chosen or left out because the file does not say it. */
  readonly remarks: readonly string[]
}

/** Makes an import request of a file. What a vendor's file does not have (name, providers, bindings) is chosen, and each choice is a remark. */
export async function completeImport(
  client: ParleyClient,
  file: ExportOnDisk,
  choices: ImportChoices,
): Promise<CompleteImport> {
  const remarks: string[] = []
  const agent = { ...file.agent }
  if (typeof agent.agent_name !== 'string' || agent.agent_name.trim() === '') {
    agent.agent_name = file.title
    remarks.push(`the file names no agent: it is called "${printable(file.title)}"`)
  }
  const isWhole = file.config !== undefined && file.modelBindings !== undefined
  const given = (file.modelBindings ?? {}) as Bindings
  if (isWhole && choices.model === null) {
    const model_bindings = { ...given, ...(await chosenBindings(client, choices)) }
    const config = file.config as ImportBody['config']
    return {
      body: { agent, flow: file.flow, agent_version: file.agentVersion, config, model_bindings },
      inspection: null,
      remarks,
    }
  }
  const models = await chatModels(client)
  const config = (file.config as ImportBody['config'] | undefined) ?? (await defaultConfig(client, agent, models))
  const model = choices.model === null ? config.providers.llm.model : modelNamed(models, choices.model, '--model').model
  if (file.config === undefined) remarks.push(providersRemark(config.providers))
  const withWebhook = webhookConfig(agent, config, choices.webhookSecret, remarks)
  const inspection = await client.agents.importInspect({ body: { agent, flow: file.flow } })
  const bindings: Bindings = { ...given }
  for (const { path, source_model } of inspection.model_bindings) {
    if (Object.hasOwn(bindings, path)) continue
    bindings[path] = { model }
    const named = source_model === null ? '' : ` in place of ${printable(source_model)}`
    remarks.push(`model ${printable(model.model_id)}${named}: ${printable(path)}`)
  }
  for (const { path, model: wanted } of choices.bindings)
    bindings[path] = { model: modelNamed(models, wanted, `--bind ${path}`).model }
  const llm = choices.model === null ? config.providers.llm : llmNamed(models, choices.model)
  return {
    body: {
      agent,
      flow: file.flow,
      agent_version: file.agentVersion,
      config: { ...withWebhook, providers: { ...withWebhook.providers, llm } },
      model_bindings: bindings,
    },
    inspection,
    remarks,
  }
}

/** The webhook of the file is imported with its secret only; else it is taken out of `agent`. */
function webhookConfig(
  agent: Record<string, unknown>,
  config: ImportBody['config'],
  secretRef: string | null,
  remarks: string[],
): ImportBody['config'] {
  const url = agent.webhook_url
  if (typeof url !== 'string' || url === '' || config.webhook !== undefined) return config
  if (secretRef !== null) return { ...config, webhook: { url, secretRef } }
  agent.webhook_url = null
  remarks.push(
    `webhook_url is left out (${printable(url)}): give --webhook-secret SECRET, the id of a secret of kind webhook_signing, to keep it`,
  )
  return config
}

async function defaultConfig(
  client: ParleyClient,
  agent: Readonly<Record<string, unknown>>,
  models: readonly Model[],
): Promise<ImportBody['config']> {
  const voices: ResultFrom<'voices.list'>['items'] = []
  for await (const voice of client.voices.list.all({ query: { limit: 200 } })) voices.push(voice)
  const providers = firstProviders({ models, voices }, languageOf(agent.language))
  return { providers, recording: { required: true, channels: 'dual' } }
}

/** Agents speak English and Spanish. */
function languageOf(language: unknown): 'en' | 'es' {
  const first: unknown = Array.isArray(language) ? language[0] : language
  return typeof first === 'string' && /^es\b/i.test(first) ? 'es' : 'en'
}

function providersRemark({ stt, llm, tts }: ImportBody['config']['providers']): string {
  const voice = tts.voiceId === undefined ? tts.model : tts.voiceId
  return `the first services that are ready: recogniser ${stt.provider}/${stt.model}, model ${llm.model.model_id}, voice ${tts.provider}/${voice}`
}

async function chosenBindings(client: ParleyClient, { bindings }: ImportChoices): Promise<Bindings> {
  if (bindings.length === 0) return {}
  const models = await chatModels(client)
  return Object.fromEntries(
    bindings.map(({ path, model }) => [path, { model: modelNamed(models, model, `--bind ${path}`).model }]),
  )
}

async function chatModels(client: ParleyClient): Promise<Model[]> {
  const models: Model[] = []
  for await (const model of client.models.list.all({ query: { limit: 200 } }))
    if (model.kind === 'chat') models.push(model)
  return models
}

function llmNamed(models: readonly Model[], id: string): ImportBody['config']['providers']['llm'] {
  const { model, provider } = modelNamed(models, id, '--model')
  return { model, provider }
}

/** The model with this id in the catalogue. */
function modelNamed(models: readonly Model[], id: string, option: string): Model {
  const model = models.find(({ model }) => model.model_id === id)
  if (model !== undefined) return model
  const known = models.map(({ model }) => printable(model.model_id)).join(', ')
  throw new Error(`${option}: there is no model ${JSON.stringify(id)}; known are ${known || 'none'}`)
}
