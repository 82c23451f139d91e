// Hands the reader a file that was made in the page.
export function download(name: string, kind: string, content: BlobPart): void {
  const link = document.createElement("a"),
    address = URL.createObjectURL(new Blob([content], { type: kind }));
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** A name for a file from a name of anything. */
export const fileName = (text: string) => text.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[-.]+|-+$/g, "") || "map";
