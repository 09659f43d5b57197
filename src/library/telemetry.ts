/** Where spans come from: an engine that tells of what it does, and handlers that run inside the trace of their job. */
import type { Engine } from '../engine/engine.ts'
import type { JobDefinition } from '../worker/definition.ts'

export interface Telemetry {
  /** The same engine, observed. */
  engine(engine: Engine): Engine
  /** The same job type, whose handler runs in the trace that its producer began. */
  definition(definition: JobDefinition): JobDefinition
}
