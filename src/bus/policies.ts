/** Words of JetStream's, which its client has as values: nothing of it is loaded where nobody says `nats://`. */
export const AckPolicy = { Explicit: 'explicit' } as const
export const RetentionPolicy = { Limits: 'limits', Workqueue: 'workqueue' } as const
export const StorageType = { File: 'file', Memory: 'memory' } as const
export const DiscardPolicy = { New: 'new', Old: 'old' } as const
