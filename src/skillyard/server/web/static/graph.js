"use strict";
// Draws the references that the table below lists.

// What a reference that leads nowhere should have led to.
function missing(edge) {
  if (edge.target === edge.source) return edge.path;
  return edge.path && edge.path !== "SKILL.md" ? edge.target_name + "/" + edge.path : edge.target_name;
}

// Where a dot begins: those that belong together are told one after the other. The same picture comes of it each time.
function begun(at) {
  return { x: 70 * Math.sqrt(at) * Math.cos(2.4 * at), y: 70 * Math.sqrt(at) * Math.sin(2.4 * at) };
}

// Spread over a frame as wide as the window has it, with so much room for each dot that names can be read.
function spread(graph) {
  const box = graph.nodes().boundingBox({ includeLabels: false });
  const scale = Math.sqrt(graph.nodes().length * 20000 / (graph.width() * graph.height()));
  const along = (at, from, length, room) => (length ? (at - from) / length * room * scale : 0);
  graph.nodes().positions((node) => {
    const { x, y } = node.position();
    return { x: along(x, box.x1, box.w, graph.width()), y: along(y, box.y1, box.h, graph.height()) };
  });
  graph.fit(undefined, 40);
  if (graph.zoom() > 1) { graph.zoom(1); graph.center(); }
}

async function drawGraph(place) {
  const { data } = await (await fetch(place.dataset.from)).json();
  const lost = data.edges.filter((edge) => !edge.target || edge.trouble);
  const ids = new Set(data.nodes.map((node) => node.id));
  const elements = [
    ...data.nodes.map((node) => ({ data: { id: node.id, label: node.full_name, href: "/skills/" + node.full_name } })),
    ...lost.map((edge, at) => ({ data: { id: "lost" + at, label: missing(edge) }, classes: "lost" })),
    ...data.edges.filter((edge) => edge.target && !edge.trouble && ids.has(edge.target)).map((edge) => ({ data: { source: edge.source, target: edge.target } })),
    ...lost.map((edge, at) => ({ data: { source: edge.source, target: "lost" + at }, classes: "lost" })),
  ];
  const dots = elements.filter((each) => !each.data.source);
  dots.forEach((each, at) => { each.position = begun(at); });
  const graph = cytoscape({
    container: place,
    elements,
    minZoom: 0.1,
    maxZoom: 3,
    layout: {
      name: "cose", animate: false, randomize: false, nodeDimensionsIncludeLabels: true, padding: 40,
      nodeRepulsion: 400000, idealEdgeLength: 70, componentSpacing: 80, gravity: 60,
    },
    style: [
      { selector: "node", style: { label: "data(label)", "background-color": colour("--accent"), color: colour("--text"), "font-size": 12, width: 18, height: 18, "text-valign": "bottom", "text-margin-y": 4, "text-background-color": colour("--surface"), "text-background-opacity": 0.8 } },
      { selector: "edge", style: { width: 1.5, "line-color": colour("--strong-line"), "target-arrow-color": colour("--strong-line"), "target-arrow-shape": "triangle", "curve-style": "bezier" } },
      { selector: ".lost", style: { "background-color": colour("--bad"), "line-color": colour("--bad"), "target-arrow-color": colour("--bad"), "line-style": "dashed", shape: "diamond" } },
      { selector: ".quiet", style: { opacity: 0.15 } },
    ],
  });
  spread(graph);
  graph.on("tap", "node[href]", (event) => { location.href = event.target.data("href"); });
  graph.on("mouseover", "node", (event) => {
    graph.elements().addClass("quiet");
    event.target.closedNeighborhood().removeClass("quiet");
  });
  graph.on("mouseout", "node", () => graph.elements().removeClass("quiet"));
  for (const button of document.querySelectorAll("#graph-tools button")) {
    button.onclick = () => zoomGraph(graph, Number(button.value));
  }
  document.getElementById("graph-tools").hidden = false;
  place.dataset.drawn = String(graph.nodes().length);
}

function zoomGraph(graph, factor) {
  if (!factor) { graph.fit(undefined, 30); return; }
  const middle = { x: graph.width() / 2, y: graph.height() / 2 };
  graph.zoom({ level: graph.zoom() * factor, renderedPosition: middle });
}

const graphPlace = document.getElementById("graph");
if (graphPlace) drawGraph(graphPlace);
