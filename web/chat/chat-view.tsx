export function ChatView({ id }: { readonly id?: string }) { return <p className="p-6">chat {id}</p> }
