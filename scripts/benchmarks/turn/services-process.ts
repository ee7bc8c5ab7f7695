// The services of the engine that is measured, with the delays of a typical service of each kind, in a process of their own.
// Started with the planted delay of the model, ms; sends the environment variables that name them, and ends with its parent.
import { StandIns } from '../../../packages/cli/src/stand-ins/stand-ins.ts'
import { crispVoice } from './crisp-voice.ts'
import { SERVICE_DELAYS } from './script.ts'
import { ANSWER, ScriptedModel } from './scripted-model.ts'

const { hearing, thinking, speaking } = SERVICE_DELAYS
const standIns = await StandIns.open({
  recogniserDelays: { partialMs: hearing, finalMs: hearing },
  voiceDelays: { firstMs: speaking },
  voice: await crispVoice([ANSWER]),
  model: new ScriptedModel(thinking, Number(process.argv[2])),
})
process.on('disconnect', () => process.exit())
process.send!(standIns.environment)
