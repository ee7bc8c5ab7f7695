import { cloneAgent, createAgent, deleteAgent, getAgent, listAgents } from './agents/agents.ts'
import { exportAgent, importAgent, inspectImport } from './agents/import.ts'
import { listActions } from './catalogue/actions.ts'
import { listModels } from './catalogue/models.ts'
import { listVoices } from './catalogue/voices.ts'
import { discardDraft, editDraft, getDraft, openDraft, validateDraft } from './drafts/drafts.ts'
import { getPublication, listPublications, publishDraft, setHead } from './publications/publications.ts'
import { messageRun, runEffects, runEvents, runRecording, runTimeline, runTranscript } from './runs/run-content.ts'
import { cancelRun, createRun, getRun, listRuns, updateRun } from './runs/runs.ts'
import { getCallLimit, updateCallLimit } from './telephony/call-limit.ts'
import { assignNumber, importNumber, listNumbers, releaseNumber } from './telephony/numbers.ts'
import { createTrunk, deleteTrunk, getTrunk, listTrunks, updateTrunk } from './telephony/trunks.ts'
import { getBudget, updateBudget } from './usage/budget.ts'
import { getRateCard, usageSummary } from './usage/usage.ts'
import { listAudit } from './workspace/audit.ts'
import { ensureSandbox, listEnvironments } from './workspace/environments.ts'
import { createKey, listKeys, revokeKey, rotateKey } from './workspace/keys.ts'
import { deleteSecret, listSecrets, putSecret } from './workspace/secrets.ts'
import { getTenantSettings, updateTenantSettings } from './workspace/tenant-settings.ts'

/** Every operation of the API. */
export const operations = [
  listEnvironments,
  ensureSandbox,
  listKeys,
  createKey,
  revokeKey,
  rotateKey,
  listSecrets,
  putSecret,
  deleteSecret,
  getTenantSettings,
  updateTenantSettings,
  listAudit,
  listAgents,
  createAgent,
  getAgent,
  deleteAgent,
  cloneAgent,
  importAgent,
  inspectImport,
  exportAgent,
  getDraft,
  editDraft,
  discardDraft,
  openDraft,
  validateDraft,
  listPublications,
  publishDraft,
  getPublication,
  setHead,
  listActions,
  listModels,
  listVoices,
  listTrunks,
  createTrunk,
  getTrunk,
  updateTrunk,
  deleteTrunk,
  listNumbers,
  importNumber,
  assignNumber,
  releaseNumber,
  getCallLimit,
  updateCallLimit,
  listRuns,
  createRun,
  getRun,
  updateRun,
  cancelRun,
  messageRun,
  runTimeline,
  runEffects,
  runTranscript,
  runRecording,
  usageSummary,
  getRateCard,
  getBudget,
  updateBudget,
] as const

/** Operations with an event stream as response: available over HTTP only, not as tools. */
export const streams = [runEvents] as const

type AnyOperation = (typeof operations)[number]

export type OperationId = AnyOperation['id']

/** The type of the operation with this id. */
export type OperationNamed<Id extends OperationId> = Extract<AnyOperation, { readonly id: Id }>
